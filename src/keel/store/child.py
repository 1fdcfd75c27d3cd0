"""Starts the introspection child under the project's interpreter, bounds it, and reads its answer."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keel.core.finding import Location, finding
from keel.core.text import excerpt
from keel.native.request import Answer, Request

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""An answer longer than this is refused."""
MAX_OUTPUT_BYTES = 8 * 1024
"""How much of what the modules print is kept, from the end."""

_NEXT_INTERPRETER = "set `python` in the keel configuration to an interpreter of Python 3.11 or later"

# Loads keel's own package by its directory, so that nothing else beside it becomes importable, whatever keel the
# interpreter may have. It must run on any Python, in order to say that this one is too old.
_BOOT = """
import sys
if sys.version_info < (3, 11):
    import os
    os.write(int(sys.argv[2]), ('{"too_old": "%d.%d"}\\n' % sys.version_info[:2]).encode("ascii"))
    sys.exit(0)
sys.path[:] = [entry for entry in sys.path if entry]
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("keel", sys.argv[1] + "/__init__.py", submodule_search_locations=[sys.argv[1]])
sys.modules["keel"] = module_from_spec(spec)
spec.loader.exec_module(sys.modules["keel"])
from keel.native.introspect import main
main(int(sys.argv[2]))
"""

# What would change the bytes of an answer, or keep the interpreter from ending.
_DROPPED = ("PYTHONINSPECT", "PYTHONOPTIMIZE", "PYTHONSTARTUP")
_SET = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}


def choose_python(root: Path, configured: str | None, environ: Mapping[str, str]) -> Path:
    """Return the interpreter that runs the project's modules.

    Args:
        root: the project's directory.
        configured: `python` of the configuration: a path relative to the project, a virtual environment, or a command.
        environ: the environment; `VIRTUAL_ENV` and `PATH` are read.

    Returns:
        The configured one, else the active virtual environment's, else that of `.venv`, else the running one. What is
        configured is returned even if it does not exist, for `introspect` to report.
    """
    if configured:
        path = root / configured
        if path.is_dir():
            return _interpreter(path) or path
        if path.exists() or os.sep in configured:
            return path
        return Path(shutil.which(configured, path=environ.get("PATH")) or configured)
    for candidate in (environ.get("VIRTUAL_ENV"), root / ".venv"):
        found = _interpreter(Path(candidate)) if candidate else None
        if found:
            return found
    return Path(sys.executable)


def _interpreter(environment: Path) -> Path | None:
    candidates = (environment / "bin" / "python", environment / "Scripts" / "python.exe")
    return next((path for path in candidates if path.exists()), None)


def introspect(python: Path, request: Request, *, cwd: Path, timeout_s: float, env: Mapping[str, str]) -> Answer:
    """Import the flow modules in a child process and return what it derived.

    The child runs in a process group of its own, which is killed when this returns, for whatever reason.

    Args:
        python: the project's interpreter.
        request: modules to import and tools to find.
        cwd: the child's working directory.
        timeout_s: seconds for all imports together.
        env: the child's environment.

    Returns:
        Definitions and findings; a child that hangs, dies or cannot start is a finding.
    """
    receiver, sender = os.pipe()
    try:
        with tempfile.TemporaryFile() as stdin:
            stdin.write(json.dumps(request.to_json()).encode())
            stdin.seek(0)
            command = [str(python), "-c", _BOOT, str(Path(__file__).resolve().parents[1]), str(sender)]
            process = subprocess.Popen(  # noqa: S603 - the interpreter that the project names
                command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env=_environment(env),
                pass_fds=[sender],
                start_new_session=True,
            )
    except OSError as error:
        os.close(receiver)
        shown = python.relative_to(cwd) if python.is_relative_to(cwd) else python
        message = f"the project's interpreter `{excerpt(str(shown))}` cannot be started: {error.strerror}"
        return Answer((), (finding("config-error", message, next=_NEXT_INTERPRETER),))
    finally:
        os.close(sender)
    child = _Child(process, receiver, request, timeout_s)
    try:
        return child.answer()
    finally:
        child.close()


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    return {**{name: value for name, value in env.items() if name not in _DROPPED}, **_SET}


@dataclass
class _Child:
    """A running child and what it has said so far."""

    process: subprocess.Popen[bytes]
    receiver: int
    request: Request
    timeout_s: float
    received: bytearray = field(default_factory=bytearray)
    output: bytes = b""
    importing: str = ""
    result: dict[str, Any] | None = None

    def answer(self) -> Answer:
        """Read until there is an answer, the child has ended, or its time is over."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + self.timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(self.receiver, selectors.EVENT_READ)
            selector.register(self.process.stdout.fileno(), selectors.EVENT_READ)
            while self.result is None:
                left = deadline - time.monotonic()
                if left <= 0:
                    return self._failed(*self._too_slow())
                ended = self.process.poll() is not None
                ready = selector.select(0 if ended else min(left, 0.1))
                for key, _ in ready:
                    if not self._read(key.fd):
                        selector.unregister(key.fd)
                if len(self.received) > MAX_ANSWER_BYTES:
                    return self._failed(f"gave an answer of more than {MAX_ANSWER_BYTES:,} bytes", "")
                if ended and not ready and self.result is None:
                    return self._failed(*self._died())
        return self._understood(self.result)

    def _read(self, pipe: int) -> bool:
        """Take what a pipe holds; returns whether it is still open."""
        data = os.read(pipe, 1 << 16)
        if pipe != self.receiver:
            self.output = (self.output + data)[-MAX_OUTPUT_BYTES:]
            return bool(data)
        self.received += data
        if b"\n" in data:
            *lines, self.received = self.received.split(b"\n")
            for line in lines:
                with suppress(ValueError):
                    self._line(json.loads(line))
        return bool(data)

    def _line(self, message: Any) -> None:
        if not isinstance(message, dict):
            return
        if "importing" in message:
            self.importing = str(message["importing"])
        else:
            self.result = message

    def _understood(self, message: dict[str, Any]) -> Answer:
        if "too_old" in message:
            what = f"the project's interpreter is Python {excerpt(str(message['too_old']))}; keel needs 3.11 or later"
            return Answer((), (finding("config-error", what, next=_NEXT_INTERPRETER),))
        try:
            return Answer.from_json(message["answer"])
        except (KeyError, TypeError):
            return self._failed("gave an answer that cannot be read", "")

    def _too_slow(self) -> tuple[str, str]:
        return (
            f"did not finish within {self.timeout_s:g} s",
            "do no work and start no server while a module is imported, or raise `--timeout`",
        )

    def _died(self) -> tuple[str, str]:
        code = self.process.returncode
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        last = self.output.decode("utf-8", "replace").strip().rpartition("\n")[2]
        said = f"; its last output was `{excerpt(last, 200)}`" if last else ""
        return f"ended its process ({how}){said}", "let the module be imported without ending the process"

    def _failed(self, what: str, next_: str) -> Answer:
        if not self.importing:
            message = f"the project's interpreter {what}"
            return Answer((), (finding("config-error", message, next=_NEXT_INTERPRETER),))
        files = {item.name: item.file for item in self.request.modules}
        message = f"importing module `{self.importing}` {what}"
        location = Location(files.get(self.importing, ""), 1, 1)
        return Answer((), (finding("native-tool", message, location=location, next=next_),))

    def close(self) -> None:
        """End the child's whole process group."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        os.close(self.receiver)
