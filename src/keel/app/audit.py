"""`keel audit`: whether an audit log is whole, what it holds, and operations whose outcome is not known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from keel.app.outcome import Outcome
from keel.app.stores import Stores
from keel.app.tables import as_json, duration, fields_of
from keel.core.finding import Report
from keel.core.jsontext import JsonSyntaxError, parse_strict
from keel.core.model import Json
from keel.core.text import escape, excerpt, plural
from keel.errors import UsageError
from keel.runtime.model import Operation, OperationState
from keel.runtime.reconcile import Reconciled
from keel.runtime.states import OperationStateError
from keel.store.audit_read import entries, verify_audit
from keel.store.chain import Entry
from keel.store.ledger_sql import SqlLedger


def verify(path: Path, expect_head: str) -> Outcome:
    """Verify an audit log.

    Raises:
        FileError: if it cannot be read.
    """
    found = verify_audit(path, expect_head)
    lines = (f"head {found.head.hash or 'none'}",)
    return Outcome(Report.of(found.findings), looked_at=plural(found.head.seq, "event"), lines=lines)


def head(path: Path) -> str:
    """Return the hash of the last entry, to be kept where whoever can write the log cannot.

    Raises:
        UsageError: if the log is not whole: its head would vouch for what was tampered with.
        FileError: if it cannot be read.
    """
    found = verify_audit(path)
    if any(item.code != "audit-torn" for item in found.findings):
        raise UsageError(f"`{escape(str(path))}` is not whole", hint="see what is wrong with `keel audit verify`")
    return f"{found.head.hash}\n"


def show(path: Path, *, run: str, tool: str, as_data: bool) -> str:
    """Return the events of an audit log, all or those of one run or tool.

    Raises:
        FileError: if it cannot be read.
    """
    lines = []
    for entry in entries(path):
        if isinstance(entry, int):
            if not (run or tool or as_data):
                lines.append(f"line {entry:,} is no entry; `keel audit verify` says more\n")
        elif _wanted(entry.event, "run_id", run) and _wanted(entry.event, "tool", tool):
            lines.append(as_json(asdict(entry), indent=None) if as_data else _line(entry))
    return "".join(lines)


def _wanted(event: Mapping[str, Json], name: str, value: str) -> bool:
    return not value or event.get(name) == value


def _line(entry: Entry) -> str:
    event = dict(entry.event)
    kind = event.pop("event", "event")
    facts = (f"{name}={_fact(value)}" for name, value in event.items() if name != "at")
    return escape(f"{entry.seq} {entry.time} {kind} {' '.join(facts)}") + "\n"


def _fact(value: Json) -> str:
    return value if isinstance(value, str) and value and " " not in value else as_json(value, indent=None).rstrip()


def operations(stores: Stores, *, unknown: bool, as_data: bool) -> str:
    """Return the operations of a store, oldest change first: all, or those whose outcome is not known.

    Raises:
        UsageError: if there is no store.
        StoreUnavailable: if it cannot be used.
    """

    async def find(ledger: SqlLedger) -> tuple[Operation, ...]:
        lost = await ledger.unknown()
        return lost if unknown else await ledger.operations()

    found = stores.work(find)
    if as_data:
        return as_json([fields_of(item) for item in found])
    now = stores.clock.now()
    lines = [_operation(item, now) for item in found]
    what = "operation" if not unknown else "operation with an unknown outcome"
    lines.append(plural(len(found), what, f"operations{' with an unknown outcome' if unknown else ''}"))
    return "\n".join(lines) + "\n"


def _operation(item: Operation, now: float) -> str:
    run = f", run {item.run_id}" if item.run_id else ""
    return escape(
        f"{item.key}  {item.state}  {item.tool}  {duration(now - item.changed_at)} ago, attempt {item.attempt}, "
        f"for {item.subject} of {item.tenant}{run}"
    )


def settle(stores: Stores, key: str, *, applied: bool, result: str, by: str, comment: str) -> str:
    """Settle an operation whose outcome is not known, in the audit log first.

    Args:
        stores: where it is.
        key: its key.
        applied: whether a person found that the effect happened; what did not may be called again.
        result: JSON that later calls of an applied operation get; empty gives them none.
        by: who found out.
        comment: how.

    Raises:
        OperationStateError: if there is no such operation, or its outcome is known.
        UsageError: if the result is not JSON, or there is no store.
        StoreUnavailable: if the store or the audit log cannot be used; nothing is settled then.
    """
    found = Reconciled(applied, _result(result, applied=applied))

    async def reconcile(ledger: SqlLedger) -> Operation:
        await ledger.unknown()  # which marks those that were abandoned
        held = await ledger.operation(key)
        if held is None or held.state is not OperationState.OUTCOME_UNKNOWN:
            said = f"is `{held.state}`" if held else "does not exist"
            raise OperationStateError(
                f"operation `{excerpt(key)}` {said}: only an unknown outcome is settled",
                hint="`keel audit operations --unknown` lists them",
            )
        await stores.record(
            "reconciled",
            operation=key,
            state=found.state.value,
            by=by,
            comment=comment,
            tenant=held.tenant,
            subject=held.subject,
            run_id=held.run_id,
            tool=held.tool,
        )
        await ledger.settle(key, found.state, found.record, attempt=held.attempt)
        return held

    held = stores.work(reconcile)
    return f"{found.state} {escape(key)} ({escape(held.tool)}) by {escape(by)}\n"


def _result(text: str, *, applied: bool) -> Json:
    if not text:
        return None
    if not applied:
        raise UsageError("what was not applied has no result", hint="leave out `--result`")
    try:
        return parse_strict(text)
    except JsonSyntaxError as error:
        hint = """write `--result '{"id": 7}'`"""
        raise UsageError(f"`--result` is not JSON: {escape(error.message)}", hint=hint) from error


def prune(stores: Stores, before: str) -> str:
    """Remove final operations and decided questions that are older than a date (UTC).

    Raises:
        UsageError: if it is no date, or there is no store.
        StoreUnavailable: if the store, or the audit log, cannot be written.
    """
    try:
        moment = datetime.fromisoformat(before)
    except ValueError as error:
        raise UsageError(f"`{excerpt(before)}` is not a date", hint="write `--before 2026-01-31`") from error
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if seconds > stores.clock.now():
        raise UsageError(f"`{excerpt(before)}` is yet to come", hint="name a date in the past")

    async def remove(ledger: SqlLedger) -> str:
        await stores.record("pruned", before=moment.isoformat())
        gone = await ledger.prune(seconds)
        return f"removed {plural(gone.operations, 'operation')} and {plural(gone.approvals, 'approval')}\n"

    return stores.work(remove)
