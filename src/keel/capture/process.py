"""One child process in a group of its own: started, listened to, and gone with all its descendants at the end."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import AsyncResource, Process

from keel.capture.gaps import CaptureGap
from keel.core.launch import Launch
from keel.core.text import escape

STDIN_GRACE_S = 1.0
"""How long a server may take to end by itself once its standard input is closed."""
TERM_GRACE_S = 1.0
"""How long it may take after SIGTERM, before SIGKILL."""
_KILL_GRACE_S = 2.0
_POLL_S = 0.01
_TAIL_BYTES = 16 * 1024


async def spawn(launch: Launch) -> Process:
    """Start the server in a session of its own, with exactly the environment of the launch.

    Raises:
        CaptureGap: `unreachable`, if it cannot be started.
    """
    argv = [_expanded(launch.argv[0], launch), *launch.argv[1:]]
    try:
        return await anyio.open_process(argv, env=dict(launch.env), cwd=launch.cwd, start_new_session=True)
    except (OSError, ValueError) as error:
        raise _not_started(launch, argv[0], error) from error


def _expanded(command: str, launch: Launch) -> str:
    home = launch.env.get("HOME")
    return f"{home}/{command[2:]}" if home and command.startswith("~/") else command


def _not_started(launch: Launch, command: str, error: OSError | ValueError) -> CaptureGap:
    shown = escape(command)
    who = f"`{escape(launch.name)}`"
    if launch.cwd is not None and not launch.cwd.is_dir():
        why = f"{who}: working directory `{escape(launch.cwd.name)}` does not exist"
        return CaptureGap("unreachable", why, "correct `cwd`")
    if isinstance(error, FileNotFoundError) and shutil.which(command, path=launch.env.get("PATH", "")) is None:
        hint = f"install `{shown}`, or correct `command`; it is looked for in the PATH of the child environment"
        if " " in command and len(launch.argv) == 1:
            words = ", ".join(f'"{escape(word)}"' for word in command.split())
            hint = f"write the command as a list of words: `command: [{words}]`"
        return CaptureGap("unreachable", f"{who}: command not found: {shown}", hint)
    reason = escape(getattr(error, "strerror", None) or str(error))
    return CaptureGap("unreachable", f"{who}: `{shown}` cannot be started: {reason}", "correct `command`")


async def read_chunks(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield what a pipe gives until it ends, breaks or is closed."""
    with contextlib.suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        async for chunk in stream:
            yield chunk


class Tail:
    """The last bytes of a stream, kept while it is drained."""

    def __init__(self) -> None:
        self._kept = bytearray()

    async def drain(self, stream: AsyncIterator[bytes]) -> None:
        """Read a stream to its end."""
        async for chunk in read_chunks(stream):
            self._kept += chunk
            del self._kept[:-_TAIL_BYTES]

    def lines(self, limit: int = 8) -> list[str]:
        """Return the last lines that hold anything, escaped."""
        text = self._kept.decode("utf-8", "replace")
        return [escape(line.rstrip())[:400] for line in text.splitlines() if line.strip()][-limit:]


async def wait_exit(process: Process, seconds: float) -> bool:
    """Wait until the process itself has ended, whoever still holds its pipes; returns whether it has."""
    with anyio.move_on_after(seconds):
        while process.returncode is None:  # noqa: ASYNC110 - `wait` would also wait for the pipes
            await anyio.sleep(_POLL_S)
    return process.returncode is not None


async def stop(process: Process) -> None:
    """End a process and its whole group: close its input, then SIGTERM, then SIGKILL; every wait is bounded.

    The group is signalled even after a clean exit, because children may have stayed behind.
    Source: MCP 2025-11-25, lifecycle, shutdown over stdio.
    """
    with anyio.CancelScope(shield=True):
        strays = _strays(process.pid)
        if process.stdin is not None:
            await _close(process.stdin)
        await wait_exit(process, STDIN_GRACE_S)
        if _signal_group(process, signal.SIGTERM):
            with anyio.move_on_after(TERM_GRACE_S):
                while process.returncode is None or _group_runs(process):  # noqa: ASYNC110 - of a group
                    await anyio.sleep(_POLL_S)
            if _signal_group(process, _KILL):
                await wait_exit(process, _KILL_GRACE_S)
        await _kill_strays(strays)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                await _close(stream)
        _close_transport(process)


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of the system's process table."""

    pid: int
    parent: int
    group: int
    started: str
    ended: bool
    """Whether it is only waiting for its parent to notice that it ended."""


def _table() -> Iterator[_Row]:
    """Yield every process, where the system shows them (Linux, `/proc`; see proc(5))."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        row = _row(path)
        if row is not None:
            yield row


def _row(path: Path) -> _Row | None:
    try:
        # The name of the program stands in parentheses and may hold anything.
        fields = path.read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    if len(fields) < _STARTED + 1:
        return None
    return _Row(int(path.parent.name), int(fields[1]), int(fields[2]), fields[_STARTED], fields[0] in "ZX")


_STARTED = 19
"""Which field after the name is the time of the start."""


def _strays(root: int) -> set[tuple[int, str]]:
    """Return (process, time of start) of descendants that left the group."""
    children: dict[int, list[_Row]] = {}
    for row in _table():
        children.setdefault(row.parent, []).append(row)
    found = set()
    pending = [root]
    while pending:
        for row in children.get(pending.pop(), []):
            pending.append(row.pid)
            if row.group != root:
                found.add((row.pid, row.started))
    return found


async def _kill_strays(strays: set[tuple[int, str]]) -> None:
    with anyio.move_on_after(_KILL_GRACE_S):
        while left := [pid for pid, started in strays if _is_running(pid, started)]:
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, _KILL)
            await anyio.sleep(_POLL_S)


def _is_running(pid: int, started: str) -> bool:
    """Tell whether a process number still stands for the process that was seen, and it has not ended."""
    row = _row(Path(f"/proc/{pid}/stat"))
    return row is not None and row.started == started and not row.ended


def _group_runs(process: Process) -> bool:
    """Tell whether any process of the group runs; in containers nobody may ever collect those that ended."""
    if not _signal_group(process, 0):
        return False
    rows = [row for row in _table() if row.group == process.pid]
    return not rows or not all(row.ended for row in rows)


_KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL


def _signal_group(process: Process, number: int) -> bool:
    """Signal every process of the group; returns whether any was left."""
    if sys.platform == "win32":
        if process.returncode is None and number:
            process.kill()
        return process.returncode is None
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # a member that changed its user; nothing more can be done
        return False
    return True


async def _close(stream: AsyncResource) -> None:
    with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await stream.aclose()


def _close_transport(process: Process) -> None:
    """Close asyncio's own handle, which otherwise stays open while a stranger holds a pipe and warns when collected."""
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    close = getattr(transport, "close", None)
    if callable(close):
        with contextlib.suppress(PermissionError):
            close()
