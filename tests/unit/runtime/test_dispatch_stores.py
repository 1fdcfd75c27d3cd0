"""The pipeline over the real stores: what is on the disk afterwards, and what another process makes of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from keel.core.redact import Redactor
from keel.runtime.budget import RunState
from keel.runtime.clock import SystemClock
from keel.runtime.dispatch import Dispatcher
from keel.runtime.limits import Limits
from keel.runtime.model import OperationState, ToolCall, ToolResult
from keel.runtime.ports import Reply
from keel.store.audit import AuditFile
from keel.store.audit_read import verify_audit
from keel.store.ledger_sqlite import SqliteLedger
from tests.unit.runtime.world import World, world

Dispatch = Callable[..., Any]


@asynccontextmanager
async def process(made: World, folder: Path, limits: Limits = Limits(), secret: str = "") -> AsyncIterator[Dispatch]:  # noqa: B008
    """Return what dispatches as a process of its own does: its own connections to the same files."""
    clock = SystemClock()
    ledger = SqliteLedger.open(folder / "state.sqlite", clock)
    audit = AuditFile.open(folder / "audit.jsonl", clock)
    dispatcher = Dispatcher(
        made.bundle,
        upstream=made.upstream,
        ledger=ledger,
        audit=audit,
        native=made.native,
        clock=clock,
        redactor=Redactor([secret] if secret else []),
        limits=limits,
    )
    run = RunState(made.bundle, clock)

    async def dispatch(name: str, call_id: str, operation: str = "", **more: Any) -> ToolResult:
        arguments = more.pop("arguments", {"q": "x"})
        call = ToolCall(call_id=call_id, name=name, arguments=arguments, operation=operation)
        return await dispatcher.dispatch(call, made.trusted, run, **more)

    try:
        yield dispatch
    finally:
        audit.close()
        ledger.close()


@pytest.mark.parametrize("tool", ["shop/note", "shop/put", "shop/find"])
def test_processes_that_share_a_store_execute_once(tmp_path: Path, tool: str) -> None:
    made = world()

    async def slow(arguments: Any) -> Reply:
        await asyncio.sleep(0.05)
        return Reply(data="done")

    made.upstream.answers[tool] = slow

    async def both() -> list[ToolResult]:
        async with process(made, tmp_path) as one, process(made, tmp_path) as two:
            first = await asyncio.gather(*((one, two)[i % 2](tool, f"c{i}", "op") for i in range(20)))
            return [*first, await two(tool, "late", "op")]

    results = asyncio.run(both())
    assert len(made.upstream.sent) == 1
    assert {item.data for item in results if item.ok} == {"done"}
    assert {item.error.detail["code"] for item in results if item.error} <= {"in_progress"}
    assert results[-1].replayed
    assert not verify_audit(tmp_path / "audit.jsonl").findings


def test_a_result_is_there_after_a_restart(tmp_path: Path) -> None:
    made = world()

    async def twice() -> list[ToolResult]:
        found = []
        for _ in range(2):
            async with process(made, tmp_path) as dispatch:
                found += [await dispatch("shop/note", "n"), await dispatch("shop/find", "f")]
        return found

    results = asyncio.run(twice())
    assert [item.replayed for item in results] == [False, False, True, True]
    assert len(made.upstream.sent) == 2


def test_a_process_that_dies_between_send_and_answer_leaves_the_outcome_unknown(tmp_path: Path) -> None:
    made = world()

    async def dies(arguments: Any) -> Reply:
        raise KeyboardInterrupt

    async def before() -> None:
        async with process(made, tmp_path, Limits(lease_grace_s=0.0)) as dispatch:
            await dispatch("shop/note", "n", timeout_s=0.2)

    made.upstream.answers["shop/note"] = dies
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(before())
    made.upstream.answers.clear()

    async def after() -> tuple[ToolResult, OperationState]:
        await asyncio.sleep(0.25)
        ledger = SqliteLedger.open(tmp_path / "state.sqlite", SystemClock())
        try:
            async with process(made, tmp_path) as dispatch:
                result = await dispatch("shop/note", "n")
                (operation,) = await ledger.unknown()
                return result, operation.state
        finally:
            ledger.close()

    result, state = asyncio.run(after())
    assert result.error is not None
    assert (result.error.code, state) == ("outcome_unknown", OperationState.OUTCOME_UNKNOWN)
    assert len(made.upstream.sent) == 1


def test_no_secret_is_in_any_file_that_a_run_leaves(tmp_path: Path) -> None:
    secret = "s3cr3t-v4lu3-1n-f1l3s"
    made = world()
    made.upstream.answers = {
        "shop/note": Reply(data={"token": secret}),
        "shop/put": Reply(failed=True, message=secret, code=secret, data=secret),
    }

    async def calls() -> list[ToolResult]:
        async with process(made, tmp_path, Limits(audit_arguments=True), secret) as dispatch:
            names = ("shop/note", "shop/put", "shop/refund", "shop/nope", "shop/find")
            return [await dispatch(name, name, arguments={"q": secret}) for name in names]

    results = asyncio.run(calls())
    assert sum(item.ok for item in results) == 2
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 2
    for path in files:
        assert secret.encode() not in path.read_bytes(), path
