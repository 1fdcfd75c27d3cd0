"""The tables of a ledger and the statements on them, in the SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from typing import Any, Protocol

from keel.runtime.model import ApprovalRecord, ApprovalRequest, ApprovalState, Operation, OperationState
from keel.runtime.states import Held

SCHEMA = 1
"""Version of the tables; a store of a newer one is refused."""

Execute = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]
"""Runs one statement with `?` for its values and returns its rows."""

CREATE = (
    """CREATE TABLE keel_operations (
      key TEXT PRIMARY KEY, call_id TEXT NOT NULL, tool TEXT NOT NULL, state TEXT NOT NULL,
      tenant TEXT NOT NULL, subject TEXT NOT NULL, run_id TEXT NOT NULL, arguments_digest TEXT NOT NULL,
      attempt INTEGER NOT NULL, result TEXT NOT NULL, changed_at DOUBLE PRECISION NOT NULL,
      definition TEXT NOT NULL, repeatable INTEGER NOT NULL,
      lease_s DOUBLE PRECISION NOT NULL, lease_until DOUBLE PRECISION NOT NULL)""",
    "CREATE INDEX keel_operations_state ON keel_operations (state, changed_at)",
    """CREATE TABLE keel_calls (
      tenant TEXT NOT NULL, subject TEXT NOT NULL, call_id TEXT NOT NULL, key TEXT NOT NULL,
      PRIMARY KEY (tenant, subject, call_id))""",
    "CREATE INDEX keel_calls_key ON keel_calls (key)",
    """CREATE TABLE keel_approvals (
      number {counted}, id TEXT NOT NULL UNIQUE, identity TEXT NOT NULL, request TEXT NOT NULL, state TEXT NOT NULL,
      decided_by TEXT NOT NULL, comment TEXT NOT NULL, asked_at DOUBLE PRECISION NOT NULL,
      decided_at DOUBLE PRECISION, uses INTEGER NOT NULL, spent INTEGER NOT NULL)""",
    "CREATE INDEX keel_approvals_identity ON keel_approvals (identity)",
    "CREATE INDEX keel_approvals_state ON keel_approvals (state)",
    """CREATE TABLE keel_uses (
      approval TEXT NOT NULL, place TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (approval, place))""",
    "CREATE INDEX keel_uses_key ON keel_uses (key)",
)
"""The tables; `{counted}` is the backend's type of a primary key that counts up."""

_PLAIN = tuple(item.name for item in fields(Operation) if item.name not in ("state", "result"))
_OPERATION = (*_PLAIN, "state", "result", "definition", "repeatable", "lease_s", "lease_until")
# Only names of columns and question marks are put into statements; values never are.
_SELECT_OPERATION = f"SELECT {', '.join(_OPERATION)} FROM keel_operations"  # noqa: S608
_PUT_OPERATION = (
    f"INSERT INTO keel_operations ({', '.join(_OPERATION)}) VALUES ({', '.join('?' * len(_OPERATION))}) "  # noqa: S608
    f"ON CONFLICT (key) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _OPERATION[1:])}"
)
_SELECT_APPROVAL = "SELECT id, request, state, decided_by, comment, asked_at, decided_at, uses FROM keel_approvals"


class Lock(Protocol):
    """Keeps other transactions away from what a text names, until this one ends."""

    def __call__(self, name: str) -> None:
        """Wait until nobody else holds the name, and hold it."""


class Tables:
    """Reads and writes whole records within one transaction; decides nothing.

    Args:
        execute: runs one statement.
        lock: takes the lock of a name; where a transaction is alone anyway it does nothing.
    """

    def __init__(self, execute: Execute, lock: Lock) -> None:
        self.execute = execute
        self.lock = lock

    def operation(self, key: str) -> Held | None:
        """Return the operation of a key."""
        return _one(self.execute(f"{_SELECT_OPERATION} WHERE key = ?", (key,)))

    def called(self, tenant: str, subject: str, call_id: str) -> Held | None:
        """Return the operation that a call id made."""
        where = "WHERE key = (SELECT key FROM keel_calls WHERE tenant = ? AND subject = ? AND call_id = ?)"
        return _one(self.execute(f"{_SELECT_OPERATION} {where}", (tenant, subject, call_id)))

    def operations(self, states: Sequence[OperationState] = ()) -> tuple[Held, ...]:
        """Return the operations in some states, or all, oldest change first."""
        where = f" WHERE state IN ({', '.join('?' * len(states))})" if states else ""
        rows = self.execute(f"{_SELECT_OPERATION}{where} ORDER BY changed_at, key", tuple(map(str, states)))
        return tuple(map(_held, rows))

    def put_operation(self, held: Held) -> None:
        """Store an operation, new or changed."""
        operation = held.operation
        values = [getattr(operation, name) for name in _PLAIN]
        rest = (held.definition, int(held.repeatable), held.lease_s, held.lease_until)
        self.execute(_PUT_OPERATION, (*values, str(operation.state), _written(operation.result), *rest))

    def call_key(self, tenant: str, subject: str, call_id: str, key: str) -> str:
        """Bind a call id to a key unless it is bound, and return what it is bound to."""
        scope = (tenant, subject, call_id)
        self.execute("INSERT INTO keel_calls VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", (*scope, key))
        rows = self.execute("SELECT key FROM keel_calls WHERE tenant = ? AND subject = ? AND call_id = ?", scope)
        return str(rows[0][0])

    def approval(self, approval_id: str) -> ApprovalRecord | None:
        """Return the question of an id."""
        rows = self.execute(f"{_SELECT_APPROVAL} WHERE id = ?", (approval_id,))
        return _record(rows[0]) if rows else None

    def latest(self, identity: str) -> ApprovalRecord | None:
        """Return the latest of equal questions that still stands for new calls."""
        where = "WHERE identity = ? AND spent = 0 ORDER BY number DESC LIMIT 1"
        rows = self.execute(f"{_SELECT_APPROVAL} {where}", (identity,))
        return _record(rows[0]) if rows else None

    def used_by(self, key: str, identity: str) -> ApprovalRecord | None:
        """Return the latest of equal questions whose approval has admitted an operation."""
        where = (
            "WHERE identity = ? AND id IN (SELECT approval FROM keel_uses WHERE key = ?) ORDER BY number DESC LIMIT 1"
        )
        rows = self.execute(f"{_SELECT_APPROVAL} {where}", (identity, key))
        return _record(rows[0]) if rows else None

    def approvals(self, state: ApprovalState) -> tuple[ApprovalRecord, ...]:
        """Return the questions in a state, oldest first."""
        return tuple(map(_record, self.execute(f"{_SELECT_APPROVAL} WHERE state = ? ORDER BY number", (str(state),))))

    def add_approval(self, record: ApprovalRecord, identity: str) -> None:
        """Store a new question."""
        columns = "id, identity, request, state, decided_by, comment, asked_at, decided_at, uses, spent"
        self.execute(
            f"INSERT INTO keel_approvals ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",  # noqa: S608
            (
                *(record.id, identity, _written(asdict(record.request)), str(record.state), record.by),
                *(record.comment, record.asked_at, record.decided_at, record.uses),
            ),
        )

    def put_answer(self, record: ApprovalRecord) -> None:
        """Store the answer to a question."""
        self.execute(
            "UPDATE keel_approvals SET state = ?, decided_by = ?, comment = ?, decided_at = ? WHERE id = ?",
            (str(record.state), record.by, record.comment, record.decided_at, record.id),
        )

    def spend(self, approval_id: str) -> None:
        """Let a question stand for no new call: its approval has been used, or its denial told."""
        self.execute("UPDATE keel_approvals SET spent = 1 WHERE id = ?", (approval_id,))

    def user(self, approval_id: str, place: str) -> str | None:
        """Return the key of the operation that a use of an approval admitted."""
        rows = self.execute("SELECT key FROM keel_uses WHERE approval = ? AND place = ?", (approval_id, place))
        return str(rows[0][0]) if rows else None

    def use(self, approval_id: str, place: str, key: str) -> None:
        """Record that an approval has admitted an operation."""
        self.execute("INSERT INTO keel_uses VALUES (?, ?, ?)", (approval_id, place, key))
        self.execute("UPDATE keel_approvals SET uses = uses + 1 WHERE id = ?", (approval_id,))

    def forget_operations(self, states: Sequence[OperationState], before: float) -> int:
        """Remove operations in some states that have not changed since a time, with their call ids; return how many."""
        where = f"state IN ({', '.join('?' * len(states))}) AND changed_at < ?"
        rows = self.execute(f"DELETE FROM keel_operations WHERE {where} RETURNING key", (*map(str, states), before))  # noqa: S608
        for (key,) in rows:
            self.execute("DELETE FROM keel_calls WHERE key = ?", (key,))
        return len(rows)

    def forget_approval(self, approval_id: str) -> None:
        """Remove a question and its uses."""
        self.execute("DELETE FROM keel_uses WHERE approval = ?", (approval_id,))
        self.execute("DELETE FROM keel_approvals WHERE id = ?", (approval_id,))


def _one(rows: list[tuple[Any, ...]]) -> Held | None:
    return _held(rows[0]) if rows else None


def _held(row: tuple[Any, ...]) -> Held:
    plain = dict(zip(_PLAIN, row, strict=False))
    state, result, definition, repeatable, lease_s, lease_until = row[len(_PLAIN) :]
    operation = Operation(**plain, state=OperationState(state), result=json.loads(result))
    return Held(
        operation=operation,
        definition=definition,
        repeatable=bool(repeatable),
        lease_s=lease_s,
        lease_until=lease_until,
    )


def _record(row: tuple[Any, ...]) -> ApprovalRecord:
    name, request, state, by, comment, asked_at, decided_at, uses = row
    known = {item.name for item in fields(ApprovalRequest)}
    given = {key: value for key, value in json.loads(request).items() if key in known}
    return ApprovalRecord(
        id=name,
        request=ApprovalRequest(**given),
        state=ApprovalState(state),
        by=by,
        comment=comment,
        asked_at=asked_at,
        decided_at=decided_at,
        uses=uses,
    )


def _written(value: object) -> str:
    """Return JSON in ASCII: PostgreSQL's text holds no NUL and no lone surrogate, JSON's escapes hold both."""
    return json.dumps(value, separators=(",", ":"))
