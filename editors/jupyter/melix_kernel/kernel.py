"""The Jupyter kernel: messages of Jupyter to requests of `melix kernel`, and its answers back."""

import queue
import signal

from ipykernel.kernelbase import Kernel

from . import __version__
from .process import MelixProcess, NoMelix
from .progress import Bars


class Output:
    """The answers of one entry, as messages of Jupyter. A value and the pictures of it are one output."""

    def __init__(self, show, count):
        self._show = show  # of a message and its content
        self._count = count
        self._bars = Bars(show)
        self._value = {}
        self.errors = []

    def take(self, answer):
        kind = answer["kind"]
        if kind != "display":
            self.show_value()
        if kind == "text":
            self._show("stream", {"name": answer["stream"], "text": answer["text"]})
        elif kind == "display":
            if answer["mime"] in self._value:
                self.show_value()
            self._value[answer["mime"]] = answer["data"]
        elif kind == "progress":
            self._bars.step(answer)
        elif kind == "error":
            self.errors.append(answer["text"])

    def show_value(self):
        if self._value:
            content = {"execution_count": self._count, "data": self._value, "metadata": {}}
            self._show("execute_result", content)
        self._value = {}


class Interrupts:
    """Counts the signals by which Jupyter interrupts, in place of an exception at any place."""

    def __init__(self):
        self._count = 0

    def __enter__(self):
        try:
            self._before = signal.signal(signal.SIGINT, self._note)
        except ValueError:  # not the main thread: there are no signals
            self._before = None
        return self

    def __exit__(self, *_):
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, *_):
        self._count += 1

    def take(self):
        count, self._count = self._count, 0
        return count > 0


def kind_of(signature):
    """What a name is, for the icon beside it."""
    if not signature:
        return "keyword"
    word = signature.split(" ", 1)[0]
    kinds = {"fn": "function", "struct": "class", "enum": "class", "type": "class", "module": "module"}
    return kinds.get(word, "instance")


class MelixKernel(Kernel):
    implementation = "melix"
    implementation_version = __version__
    banner = "Melix"
    language_info = {
        "name": "melix",
        "mimetype": "text/x-melix",
        "file_extension": ".mlx",
        "pygments_lexer": "rust",
        "codemirror_mode": "rust",
    }

    def __init__(self, **options):
        super().__init__(**options)
        self._melix = None

    def _process(self):
        if self._melix is None:
            self._melix = MelixProcess()
        return self._melix

    def _forget_process(self):
        if self._melix is not None:
            self._melix.end()
        self._melix = None

    def _show(self, message, content):
        self.send_response(self.iopub_socket, message, content)

    def _wait(self, request, output):
        """Takes the answers of an entry up to its last, which it gives."""
        with Interrupts() as interrupts:
            while True:
                if interrupts.take():
                    self._melix.send("interrupt")
                try:
                    answer = self._melix.answer(timeout=0.05)
                except queue.Empty:
                    continue
                if answer["id"] != request:
                    continue
                output.take(answer)
                if answer["kind"] == "done":
                    return answer

    def _failed(self, name, text, silent):
        lines = text.rstrip("\n").split("\n")
        error = {"ename": name, "evalue": lines[0], "traceback": lines}
        if not silent:
            self._show("error", error)
        return {"status": "error", "execution_count": self.execution_count, **error}

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **more):
        fine = {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}
        if not code.strip():
            return fine
        output = Output((lambda *message: None) if silent else self._show, self.execution_count)
        try:
            request = self._process().send("execute", code=code)
            end = self._wait(request, output)
        except NoMelix as error:
            self._forget_process()
            return self._failed("NoMelix", f"{error}; the next cell starts a new one", silent)
        text = "".join(output.errors)
        if end["status"] == "interrupted":
            return self._failed("Interrupted", "interrupted", silent)
        if end["status"] == "error":
            return self._failed("Error", text, silent)
        if text and not silent:
            self._show("stream", {"name": "stderr", "text": text})
        if "exit" in end:
            self._forget_process()
            note = f"exit {end['exit']}: the next cell starts a new session\n"
            self._show("stream", {"name": "stderr", "text": note})
        return fine

    def do_complete(self, code, cursor_pos):
        cursor_pos = min(max(cursor_pos, 0), len(code))
        nothing = {"matches": [], "cursor_start": cursor_pos, "cursor_end": cursor_pos, "metadata": {}, "status": "ok"}
        try:
            found = self._process().ask("complete", code=code, cursor=cursor_pos)
        except NoMelix:
            self._forget_process()
            return nothing
        if found["status"] != "ok":
            return nothing
        types = [
            {"start": found["start"], "end": found["end"], "text": text, "type": kind_of(signature), "signature": signature}
            for text, signature in zip(found["matches"], found["signatures"])
        ]
        return {
            "matches": found["matches"],
            "cursor_start": found["start"],
            "cursor_end": found["end"],
            "metadata": {"_jupyter_types_experimental": types},
            "status": "ok",
        }

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        cursor_pos = min(max(cursor_pos, 0), len(code))
        try:
            told = self._process().ask("inspect", code=code, cursor=cursor_pos)
        except NoMelix:
            self._forget_process()
            told = {}
        found = bool(told.get("found"))
        data = {"text/plain": told["text"]} if found else {}
        return {"status": "ok", "found": found, "data": data, "metadata": {}}

    def do_is_complete(self, code):
        try:
            told = self._process().ask("is_complete", code=code)
        except NoMelix:
            self._forget_process()
            return {"status": "unknown"}
        if told.get("completeness") == "incomplete":
            return {"status": "incomplete", "indent": ""}
        return {"status": "complete"}

    def do_shutdown(self, restart):
        self._forget_process()
        return {"status": "ok", "restart": restart}
