"""Questions are decided at a terminal, by a callback or in the store; nothing but a yes approves."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from keel.runtime.approvers import CallbackApprover, StoreApprover, TerminalApprover, question
from keel.runtime.model import ApprovalRecord, ApprovalRequest, ApprovalState
from tests.fakes.ports import MemoryLedger


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()


class Terminal:
    """Both ends of a pseudo-terminal."""

    def __init__(self) -> None:
        self.person, self.child = pty.openpty()
        self.device = os.ttyname(self.child)
        os.set_blocking(self.person, False)
        self.shown = ""

    async def until(self, text: str) -> None:
        """Read what is shown until it holds a text."""
        limit = time.monotonic() + 5
        while text not in self.shown:
            assert time.monotonic() < limit, self.shown
            try:
                self.shown += os.read(self.person, 65536).decode()
            except BlockingIOError:
                await asyncio.sleep(0.01)

    def type(self, text: str) -> None:
        os.write(self.person, text.encode())


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    found = Terminal()
    yield found
    os.close(found.person)
    os.close(found.child)


def request(**changes: Any) -> ApprovalRequest:
    return ApprovalRequest(
        tenant="t", subject="s", prompt="pay 3 to \x1b[2J?", gate="f@flows.py:1:1", show={"to": "\u202eann"}, **changes
    )


async def asked(ledger: MemoryLedger, terminal: Terminal, typed: str, before: str = "") -> ApprovalRecord:
    record = await ledger.ask(request())
    if before:
        terminal.type(before)
        await asyncio.sleep(0.05)
    approver = TerminalApprover("ann", StoreApprover(poll_s=0.01), terminal.device)
    task = asyncio.create_task(approver.decided(record, ledger))
    await terminal.until("approve? [y/N]")
    terminal.type(typed)
    return await asyncio.wait_for(task, 5)


@pytest.mark.parametrize(
    ("typed", "state"),
    [
        ("y\n", "approved"),
        (" YES \n", "approved"),
        ("n\n", "denied"),
        ("\n", "denied"),
        ("yep\n", "denied"),
        ("\x04", "denied"),
    ],
)
def test_a_line_at_the_terminal_decides(ledger: MemoryLedger, terminal: Terminal, typed: str, state: str) -> None:
    found = asyncio.run(asked(ledger, terminal, typed))
    assert (found.state.value, found.by) == (state, "ann")
    assert (ledger.approvals[found.id].state.value, ledger.approvals[found.id].by) == (state, "ann")


def test_the_question_is_shown_escaped(ledger: MemoryLedger, terminal: Terminal) -> None:
    asyncio.run(asked(ledger, terminal, "n\n"))
    assert "pay 3 to \\u{1b}[2J?" in terminal.shown
    assert "\\u{202e}ann" in terminal.shown
    assert "f@flows.py:1:1" in terminal.shown
    assert "\x1b" not in terminal.shown


def test_no_prompt_passes_for_what_is_approved_or_for_words_of_keel() -> None:
    forged = 'pay?\n{\n  "amount": 5\n}\napprove? [y/N] y\n\nkeel: approval 1 at other\r  \u2028x'
    asked = ApprovalRecord(id="i", request=replace(request(), prompt=forged, show={"amount": 5000, "x\n| y": 1}))
    header, *lines, last = question(asked).strip("\n").split("\n")
    prompt = [line for line in lines if line.startswith("  | ")]
    assert len(prompt) == forged.count("\n") + 1
    assert lines[: len(prompt)] == prompt
    assert lines[len(prompt) :] == ["  {", '    "amount": 5000,', '    "x\\n| y": 1', "  }"]
    assert (header, last) == ("keel: approval i at f@flows.py:1:1", "approve? [y/N] ")


def test_what_was_typed_before_is_no_answer(ledger: MemoryLedger, terminal: Terminal) -> None:
    assert asyncio.run(asked(ledger, terminal, "n\n", before="y\n")).state is ApprovalState.DENIED


def test_somebody_else_may_decide_first(ledger: MemoryLedger, terminal: Terminal) -> None:
    async def main() -> ApprovalRecord:
        record = await ledger.ask(request())
        approver = TerminalApprover("ann", device=terminal.device)
        task = asyncio.create_task(approver.decided(record, ledger))
        await terminal.until("approve?")
        await ledger.decide(record.id, approved=True, by="bob")
        found = await asyncio.wait_for(task, 5)
        await terminal.until("approved elsewhere")
        return found

    assert asyncio.run(main()).by == "bob"


def test_no_answer_in_time_expires(ledger: MemoryLedger, terminal: Terminal) -> None:
    async def main() -> ApprovalRecord:
        record = await ledger.ask(request(answer_by=ledger.clock.now() + 5))
        task = asyncio.create_task(TerminalApprover("ann", device=terminal.device).decided(record, ledger))
        await terminal.until("approve?")
        ledger.clock.advance(6)
        return await asyncio.wait_for(task, 5)

    assert asyncio.run(main()).state is ApprovalState.EXPIRED


def test_without_a_terminal_the_store_is_waited_for(ledger: MemoryLedger) -> None:
    told: list[str] = []

    async def main() -> ApprovalRecord:
        record = await ledger.ask(request())
        waiting = StoreApprover(lambda asked: told.append(asked.id), poll_s=0.01)
        task = asyncio.create_task(TerminalApprover("ann", waiting, "/nowhere/tty").decided(record, ledger))
        await asyncio.sleep(0.03)
        await ledger.decide(record.id, approved=False, by="bob")
        return await asyncio.wait_for(task, 5)

    assert asyncio.run(main()).state is ApprovalState.DENIED
    assert told == list(ledger.approvals)


def test_too_much_to_read_is_not_cut(ledger: MemoryLedger, terminal: Terminal) -> None:
    async def main() -> ApprovalRecord:
        record = await ledger.ask(ApprovalRequest(tenant="t", subject="s", gate="g", show=["x" * 30_000]))
        approver = TerminalApprover("ann", StoreApprover(poll_s=0.01), terminal.device)
        task = asyncio.create_task(approver.decided(record, ledger))
        await terminal.until("decide in the store")
        await ledger.decide(record.id, approved=True, by="bob")
        return await asyncio.wait_for(task, 5)

    assert asyncio.run(main()).by == "bob"
    assert "approve?" not in terminal.shown


def test_questions_take_turns(ledger: MemoryLedger, terminal: Terminal) -> None:
    async def main() -> list[str]:
        approver = TerminalApprover("ann", device=terminal.device)
        records = [await ledger.ask(request(occurrence=str(number))) for number in range(2)]
        tasks = [asyncio.create_task(approver.decided(record, ledger)) for record in records]
        await terminal.until("approve?")
        assert terminal.shown.count("approve?") == 1
        terminal.type("y\n")
        await tasks[0]
        while terminal.shown.count("approve?") < 2:
            await terminal.until(f"keel: approval {records[1].id}")
            terminal.shown += " "
            await asyncio.sleep(0.02)
            with contextlib.suppress(BlockingIOError):
                terminal.shown += os.read(terminal.person, 65536).decode()
        terminal.type("n\n")
        return [(await task).state.value for task in tasks]

    assert asyncio.run(main()) == ["approved", "denied"]


def test_an_async_callback(ledger: MemoryLedger) -> None:
    async def ask(record: ApprovalRecord) -> tuple[bool, str]:
        await asyncio.sleep(0)
        return True, "looks right"

    async def main() -> ApprovalRecord:
        record = await ledger.ask(request())
        return await CallbackApprover(ask, by="desk").decided(record, ledger)

    found = asyncio.run(main())
    assert (found.state, found.by, found.comment) == (ApprovalState.APPROVED, "desk", "looks right")


def test_what_is_decided_is_not_asked_again(ledger: MemoryLedger) -> None:
    async def main() -> ApprovalRecord:
        record = await ledger.ask(request())
        decided = await ledger.decide(record.id, approved=False, by="bob")
        return await CallbackApprover(lambda _: pytest.fail("asked")).decided(decided, ledger)

    assert asyncio.run(main()).by == "bob"


def test_a_tool_is_named() -> None:
    record = ApprovalRecord(id="a1", request=ApprovalRequest(tenant="t", subject="s", tool="bank/pay", show={"x": 1}))
    assert "for bank/pay" in question(record)
    assert '"x": 1' in question(record)
