"""A process `melix kernel`: requests and answers as dictionaries (docs/reference/notebook.md)."""

import json
import os
import queue
import shutil
import subprocess
import threading


class NoMelix(Exception):
    """There is no command `melix`, or it has ended."""


def command():
    """The path of `melix`: the variable MELIX, else the one that PATH has."""
    path = os.environ.get("MELIX") or shutil.which("melix")
    if not path:
        raise NoMelix("no command `melix`: set MELIX to its path, or add its folder to PATH")
    return path


class MelixProcess:
    """Requests may be sent from any thread; one thread at a time waits for answers."""

    def __init__(self):
        try:
            # In a session of its own: a signal to the group of Jupyter's kernel is no signal to it.
            self._process = subprocess.Popen(
                [command(), "kernel"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise NoMelix(f"cannot start `melix`: {error}") from error
        self._sending = threading.Lock()
        self._last_id = 0
        self._answers = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            try:
                self._answers.put(json.loads(line))
            except ValueError:
                pass
        self._answers.put(None)

    def send(self, do, **parts):
        """Sends a request; gives its id."""
        with self._sending:
            self._last_id += 1
            line = json.dumps({"id": self._last_id, "do": do, **parts}) + "\n"
            try:
                self._process.stdin.write(line.encode())
                self._process.stdin.flush()
            except OSError:
                pass  # who waits for the answer is told
            return self._last_id

    def answer(self, timeout=None):
        """The next answer; raises `queue.Empty` after the time, `NoMelix` if the process has ended."""
        answer = self._answers.get(timeout=timeout)
        if answer is None:
            self._answers.put(None)
            status = self._process.wait()
            raise NoMelix(f"melix has ended with the status {status}")
        return answer

    def ask(self, do, **parts):
        """What a question is answered."""
        request = self.send(do, **parts)
        while True:
            answer = self.answer()
            if answer["id"] == request and answer["kind"] == "done":
                return answer

    def end(self):
        """Stops what runs and ends the process."""
        self.send("interrupt")
        self.send("quit")
        try:
            self._process.stdin.close()
        except OSError:
            pass
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
