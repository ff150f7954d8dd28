#!/usr/bin/env python3
"""What Jupyter sees of the Melix kernel: completion, inspection, pictures, bars, interrupts.

    kernel.py MELIX
"""

import os
import pathlib
import sys
import tempfile
import threading

from run import install_kernel

from jupyter_client.manager import start_new_kernel

SECONDS = 60


class Session:
    def __init__(self):
        self.manager, self.client = start_new_kernel(kernel_name="melix")

    def run(self, code):
        """The status of a cell and its messages, as pairs of a kind and a content."""
        messages = []

        def take(message):
            messages.append((message["msg_type"], message["content"]))

        # After an error Jupyter would refuse cells that come within a moment.
        reply = self.client.execute_interactive(code, output_hook=take, stop_on_error=False, timeout=SECONDS)
        return reply["content"]["status"], [each for each in messages if each[0] not in ("status", "execute_input")]

    def ask(self, question, *arguments):
        request = getattr(self.client, question)(*arguments)
        while True:
            reply = self.client.get_shell_msg(timeout=SECONDS)
            if reply["parent_header"].get("msg_id") == request:
                return reply["content"]


def expect(is_so, what):
    if not is_so:
        print(f"FAILED at line {sys._getframe(1).f_lineno}: {what}")
        sys.exit(1)


def try_questions(session):
    completion = session.ask("complete", "1 + rel", 7)
    expect((completion["matches"], completion["cursor_start"], completion["cursor_end"]) == (["relu"], 4, 7), completion)
    expect("fn relu" in completion["metadata"]["_jupyter_types_experimental"][0]["signature"], completion)
    told = session.ask("inspect", "relu(x", 6)
    expect(told["found"] and told["data"]["text/plain"].startswith("fn relu["), told)
    expect(not session.ask("inspect", "nothing_here", 3)["found"], "an unknown name is found")
    expect(session.ask("is_complete", "fn f() {")["status"] == "incomplete", "an open bracket is complete")
    expect(session.ask("is_complete", "1")["status"] == "complete", "`1` is incomplete")


def try_cells(session):
    status, messages = session.run("print(1)\n[[1, 2], [3, 4]]")
    kinds = [(kind, content.get("text") or content["data"]) for kind, content in messages]
    shown = {"text/plain": "int[2, 2]:\n  1  2\n  3  4"}
    expect((status, kinds) == ("ok", [("stream", "1\n"), ("execute_result", shown)]), messages)
    status, messages = session.run("y")
    expect(status == "error" and "unknown name `y`" in messages[0][1]["evalue"], messages)
    status, messages = session.run(
        'struct D { r: int }\nfn svg(d: D) -> str = "<svg/>"\nfn png(d: D) -> u8[_] = [137, 80, 78]\nD(2)'
    )
    pictures = {"text/plain": "D(r: 2)", "image/svg+xml": "<svg/>", "image/png": "iVBO"}
    expect([content["data"] for _, content in messages] == [pictures], messages)


def try_progress(session):
    status, messages = session.run('use progress\nfor i in progress(0..3, "epoch") { }')
    kinds = [kind for kind, _ in messages]
    expect(status == "ok" and kinds == ["display_data", "update_display_data"], messages)
    expect(messages[0][1]["transient"] == messages[1][1]["transient"], "the bar is drawn twice")
    expect("100 %" in messages[1][1]["data"]["text/plain"], messages)
    expect("<progress " in messages[1][1]["data"]["text/html"], messages)


def try_interrupts(session):
    session.run("var n = 1")
    timer = threading.Timer(0.5, session.manager.interrupt_kernel)
    timer.start()
    status, messages = session.run("n = 2\nwhile true { }")
    expect(status == "error" and messages[-1][1]["ename"] == "Interrupted", messages)
    status, messages = session.run("n")
    expect(messages[-1][1]["data"]["text/plain"] == "1", messages)
    status, _ = session.run("exit(3)")
    expect(status == "ok", "exit fails")
    status, messages = session.run("n")
    expect(status == "error", "a new session knows a variable of the one before")


def main():
    os.environ["MELIX"] = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        install_kernel(folder)
        session = Session()
        try:
            for each in (try_questions, try_cells, try_progress, try_interrupts):
                each(session)
        finally:
            session.client.stop_channels()
            session.manager.shutdown_kernel()


main()
