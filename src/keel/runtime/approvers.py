"""Who decides the questions of a run: a callback, whoever answers in the store, or the person at the terminal."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from keel.core.text import escape
from keel.errors import KeelError
from keel.runtime.model import ApprovalRecord, ApprovalState
from keel.runtime.ports import ApprovalStore

POLL_S = 0.2
"""Seconds between looks into the store while a question is open."""
LOOK_S = 0.05
"""Seconds between looks at the terminal."""
TERMINAL = "/dev/tty"
"""The controlling terminal of the process (POSIX `tty(4)`), whatever its streams are."""
_READ_AND_WRITE = os.O_RDWR | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_NONBLOCK", 0)  # Windows has neither
MAX_SHOWN = 20_000
"""Characters of data that are put before a person at a terminal; what is longer is refused, not cut."""


class Approver(Protocol):
    """Gets one open question decided."""

    async def decided(self, record: ApprovalRecord, store: ApprovalStore) -> ApprovalRecord:
        """Return the question once it is approved, denied or expired.

        Args:
            record: the open question.
            store: where it is recorded, and where the answer must be recorded too.

        Raises:
            StoreUnavailable: if the store cannot be asked.
        """
        ...


@dataclass(frozen=True)
class StoreApprover:
    """Waits until somebody decides in the store: `keel approve ID` or `keel deny ID` in another process."""

    announce: Callable[[ApprovalRecord], None] | None = None
    """Told of each question that is waited for."""
    poll_s: float = POLL_S

    async def decided(self, record: ApprovalRecord, store: ApprovalStore) -> ApprovalRecord:
        """Poll until the question is no longer open."""
        if self.announce is not None and record.state is ApprovalState.PENDING:
            self.announce(record)
        while record.state is ApprovalState.PENDING:
            await asyncio.sleep(self.poll_s)
            record = await store.approval(record.id) or record
        return record


Answer = bool | tuple[bool, str]
"""Whether it is approved, and what the person wrote."""


@dataclass(frozen=True)
class CallbackApprover:
    """Asks a function of the host, which may ask a person in any way it likes; one that takes time must be async."""

    ask: Callable[[ApprovalRecord], Answer | Awaitable[Answer]]
    by: str = "callback"

    async def decided(self, record: ApprovalRecord, store: ApprovalStore) -> ApprovalRecord:
        """Record what the function says; anything but `True` is a denial."""
        if record.state is not ApprovalState.PENDING:
            return record
        answer: Any = self.ask(record)
        if inspect.isawaitable(answer):
            answer = await _until_settled(answer, record, store)
            if isinstance(answer, ApprovalRecord):
                return answer
        said, comment = answer if isinstance(answer, tuple) else (answer, "")
        return await record_answer(store, record, approved=said is True, by=self.by, comment=comment)


@dataclass
class TerminalApprover:
    """Asks at the controlling terminal; without one it waits for the store."""

    by: str
    """Who sits there."""
    fallback: StoreApprover = field(default_factory=StoreApprover)
    device: str = TERMINAL
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def decided(self, record: ApprovalRecord, store: ApprovalStore) -> ApprovalRecord:
        """Show the question and read a line: `y` or `yes` approves, anything else denies."""
        if record.state is not ApprovalState.PENDING:
            return record
        async with self._turn:
            text = question(record)
            try:
                terminal = os.open(self.device, _READ_AND_WRITE)
            except OSError:
                return await self.fallback.decided(record, store)
            try:
                if len(text) > MAX_SHOWN:
                    _say(terminal, f"keel: approval {record.id} shows too much for a terminal; decide in the store\n")
                    return await self.fallback.decided(record, store)
                return await self._asked(terminal, text, record, store)
            finally:
                os.close(terminal)

    async def _asked(self, terminal: int, text: str, record: ApprovalRecord, store: ApprovalStore) -> ApprovalRecord:
        _drain(terminal)  # what was typed before the question is no answer to it
        _say(terminal, text)
        answer = await _until_settled(_line(terminal), record, store)
        if isinstance(answer, ApprovalRecord):
            _say(terminal, f"\nkeel: {answer.state.value} elsewhere\n")
            return answer
        approved = answer.strip().casefold() in ("y", "yes")
        return await record_answer(store, record, approved=approved, by=self.by)


async def record_answer(
    store: ApprovalStore, record: ApprovalRecord, *, approved: bool, by: str, comment: str = ""
) -> ApprovalRecord:
    """Record an answer; one that comes too late, or after another's, changes nothing."""
    try:
        return await store.decide(record.id, approved=approved, by=by, comment=comment)
    except KeelError as error:
        if error.code not in ("approval-decided", "approval-expired"):
            raise
        return await store.approval(record.id) or record


async def _until_settled(answer: Awaitable[Any], record: ApprovalRecord, store: ApprovalStore) -> Any:
    """Return an answer, or the record if the question is settled elsewhere or expires before."""
    given = asyncio.ensure_future(answer)
    elsewhere = asyncio.ensure_future(StoreApprover().decided(record, store))
    try:
        await asyncio.wait({given, elsewhere}, return_when=asyncio.FIRST_COMPLETED)
        return given.result() if given.done() else elsewhere.result()
    finally:
        for task in (given, elsewhere):
            task.cancel()
        await asyncio.gather(given, elsewhere, return_exceptions=True)


def question(record: ApprovalRecord) -> str:
    """Return a question as a terminal shows it.

    Every foreign character that could deceive is escaped, and every line of the prompt is marked as one, so that no
    text in it passes for the data that is approved, or for words of keel.
    """
    request = record.request
    where = f"at {request.gate}" if request.gate else f"for {request.tool}"
    lines = [
        "",
        f"keel: approval {record.id} {escape(where)}",
        *(f"  | {escape(part)}" for part in request.prompt.split("\n")),
    ]
    if request.show is not None:
        shown = json.dumps(request.show, ensure_ascii=False, indent=2, sort_keys=True)
        lines += [f"  {escape(part)}" for part in shown.split("\n")]
    return "\n".join((*lines, "approve? [y/N] "))


def _say(terminal: int, text: str) -> None:
    data = text.encode("utf-8", "replace")
    with _blocking(terminal):
        while data:
            data = data[os.write(terminal, data) :]


@contextmanager
def _blocking(terminal: int) -> Iterator[None]:
    os.set_blocking(terminal, True)
    try:
        yield
    finally:
        os.set_blocking(terminal, False)


def _drain(terminal: int) -> None:
    try:
        while os.read(terminal, 4096):
            pass
    except BlockingIOError:
        pass


async def _line(terminal: int) -> str:
    """Read one line without holding a thread, so that the wait can be given up; the end of input is an empty one.

    It looks again and again, because not every system lets an event loop wait for a terminal (macOS and kqueue).
    """
    held = b""
    while b"\n" not in held:
        try:
            data = os.read(terminal, 1024)
        except BlockingIOError:
            await asyncio.sleep(LOOK_S)
            continue
        except OSError:
            data = b""
        if not data:
            break
        held += data
    return held.partition(b"\n")[0].decode("utf-8", "replace")
