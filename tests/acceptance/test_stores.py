"""`keel approve`, `keel deny` and `keel audit`, as people run them."""

from __future__ import annotations

import asyncio
import json
import os
import pwd
from pathlib import Path
from typing import Any

import pytest

from keel.runtime.clock import SystemClock
from keel.runtime.model import ApprovalRecord, OperationState
from keel.store.audit import AuditFile
from keel.store.ledgers import open_ledger
from tests.acceptance.harness import Keel
from tests.unit.store.conftest import postgres, postgres_url
from tests.unit.store.test_ledger import admission, exact, gate

__all__ = ["postgres", "postgres_url"]

STORE, LOG = ".keel/state.sqlite", ".keel/audit.jsonl"


def asked(keel: Keel, *requests: Any, store: str = "") -> list[ApprovalRecord]:
    """Ask questions in the default store."""
    with open_ledger(store or str(keel.root / STORE), SystemClock()) as ledger:
        return [asyncio.run(ledger.ask(request)) for request in requests]


def lost(keel: Keel, key: str = "k1:0") -> None:
    """Leave an operation behind whose outcome is not known."""
    with open_ledger(str(keel.root / STORE), SystemClock()) as ledger:
        asyncio.run(ledger.admit(admission(key)))
        asyncio.run(ledger.executing(key))
        asyncio.run(ledger.settle(key, OperationState.OUTCOME_UNKNOWN))


def logged(keel: Keel) -> list[dict[str, Any]]:
    return [json.loads(line)["event"] for line in (keel.root / LOG).read_text().splitlines()]


class TestApproving:
    def test_open_questions_are_listed_with_all_that_is_approved(self, keel: Keel) -> None:
        shown = {"tool": "bank/pay", "arguments": {"to": "x" * 300 + "\x1b[2J", "amount": 5, "why": "##[error]"}}
        call, at_gate = asked(keel, exact(show=shown, expires_at=SystemClock().now() + 7200), gate(show={"n": 1}))
        for command in ("approve", "deny"):
            done = keel(command)
            assert (done.code, done.err) == (0, "")
            assert f"{call.id}  bank/pay\n" in done.out
            assert "expires in 1 hour" in done.out
            assert f'to = "{"x" * 300}\\u001b[2J"' in done.out
            assert "amount = 5" in done.out
            assert f"{at_gate.id}  gate pay@flow.py:3:4\n" in done.out
            assert "pay 5?" in done.out
            assert "for ann of acme, run r1" in done.out
            assert done.out.endswith("2 open questions\n")
            assert "\x1b" not in done.out
            assert "##[" not in done.out
        listed = json.loads(keel("approve", "--format", "json").out)
        assert [item["id"] for item in listed] == [call.id, at_gate.id]
        assert listed[0]["show"] == shown

    @pytest.mark.parametrize(("command", "state"), [("approve", "approved"), ("deny", "denied")])
    def test_an_answer_is_kept_in_the_store_and_in_the_log(self, keel: Keel, command: str, state: str) -> None:
        (question,) = asked(keel, exact())
        done = keel(command, question.id, "--by", "bob", "--comment", "checked")
        assert (done.code, done.out) == (0, f"{state} {question.id} (bank/pay) by bob\n")
        assert keel(command).out == "no open questions\n"
        assert logged(keel) == [
            {
                "event": "approval_decided", "approval": question.id, "decision": state, "by": "bob", "comment": "checked",
                "tenant": "acme", "subject": "ann", "tool": "bank/pay", "arguments": "k1:a",
            }
        ]  # fmt: skip
        again = keel("approve", question.id)
        assert (again.code, again.out) == (1, "")
        assert f"was already {state} by bob" in again.err
        assert len(logged(keel)) == 1

    def test_without_a_name_it_is_the_user_of_the_process(self, keel: Keel) -> None:
        (question,) = asked(keel, exact())
        done = keel("approve", question.id, "--format", "json", LOGNAME="eve", USER="eve")
        assert json.loads(done.out)["by"] == pwd.getpwuid(os.getuid()).pw_name

    def test_unknown_and_expired_ones(self, keel: Keel) -> None:
        (late,) = asked(keel, exact(expires_at=1.0))
        assert keel("approve", "nothing\x1b[2J").code == 2
        done = keel("deny", late.id)
        assert done.code == 1
        assert "is over" in done.err
        assert not (keel.root / LOG).exists()

    def test_listing_creates_nothing(self, keel: Keel) -> None:
        done = keel("approve")
        assert done.code == 2
        assert "no store" in done.err
        assert list(keel.root.iterdir()) == []

    def test_what_cannot_be_logged_is_not_decided(self, keel: Keel) -> None:
        (question,) = asked(keel, exact())
        done = keel("approve", question.id, "--audit", "/dev/full")
        assert (done.code, done.out) == (3, "")
        assert "no space left" in done.err
        assert question.id in keel("approve").out

    def test_a_store_in_postgres(self, keel: Keel, postgres_url: str) -> None:
        (question,) = asked(keel, exact(), store=postgres_url)
        assert question.id in keel("approve", "--store", postgres_url).out
        assert keel("approve", question.id, "--store", postgres_url).code == 0
        assert keel("approve", "--store", postgres_url).out == "no open questions\n"


class TestOperations:
    def test_an_unknown_one_is_listed_and_settled(self, keel: Keel) -> None:
        lost(keel)
        assert "k1:0  outcome_unknown  bank/pay" in keel("audit", "operations", "--unknown").out
        (found,) = json.loads(keel("audit", "operations", "--unknown", "--format", "json").out)
        assert (found["key"], found["state"]) == ("k1:0", "outcome_unknown")
        words = ["audit", "settle", "k1:0", "--applied", "--result", '{"id": 7}', "--by", "bob"]
        assert keel(*words).out == "reconciled_succeeded k1:0 (bank/pay) by bob\n"
        assert keel("audit", "operations", "--unknown").out == "0 operations with an unknown outcome\n"
        again = keel(*words)
        assert (again.code, "is `reconciled_succeeded`" in again.err) == (2, True)
        assert [(event["event"], event["state"], event["by"]) for event in logged(keel)] == [
            ("reconciled", "reconciled_succeeded", "bob")
        ]

    def test_one_that_did_not_happen_may_be_called_again(self, keel: Keel) -> None:
        lost(keel)
        assert keel("audit", "settle", "k1:0").code == 2
        assert keel("audit", "settle", "k1:0", "--not-applied", "--result", "1").code == 2
        assert keel("audit", "settle", "k1:0", "--applied", "--result", "{").code == 2
        assert keel("audit", "settle", "k1:0", "--not-applied").code == 0
        with open_ledger(str(keel.root / STORE), SystemClock()) as ledger:
            assert asyncio.run(ledger.admit(admission("k1:0"))).attempt == 2

    def test_pruning_names_a_day_that_is_over(self, keel: Keel) -> None:
        lost(keel)
        assert keel("audit", "prune", "--before", "2999-01-01").code == 2
        assert keel("audit", "prune", "--before", "2020-01-01").out == "removed 0 operations and 0 approvals\n"
        assert logged(keel)[-1]["event"] == "pruned"

    def test_a_store_that_cannot_be_used_is_3(self, keel: Keel) -> None:
        path = keel.root / "state"
        path.write_bytes(b"no database, but long enough to be taken for one" * 100)
        path.chmod(0o600)
        done = keel("audit", "operations", "--store", "state")
        assert (done.code, "is not a database" in done.err) == (3, True)


class TestLog:
    @pytest.fixture
    def log(self, keel: Keel) -> Path:
        with AuditFile.open(keel.root / LOG, SystemClock()) as log:
            for number in range(3):
                event = {"event": "asked", "run_id": f"r{number % 2}", "tool": "bank/pay", "text": "a\x1b b"}
                asyncio.run(log.append(event))
        return keel.root / LOG

    def test_a_whole_one(self, keel: Keel, log: Path) -> None:
        done = keel("audit", "verify")
        assert (done.code, done.err) == (0, "")
        head = keel("audit", "head").out.strip()
        assert f"head {head}" in done.out
        assert keel("audit", "verify", str(log), "--expect-head", head).code == 0

    def test_an_altered_and_a_cut_one(self, keel: Keel, log: Path) -> None:
        head = keel("audit", "head").out.strip()
        data = log.read_bytes()
        log.write_bytes(data.replace(b'"r1"', b'"r7"'))
        done = keel.json("audit", "verify")
        assert (done.code, done.codes) == (1, ["audit-altered"])
        assert done.report["findings"][0]["location"]["line"] == 2
        assert keel("audit", "head").code == 2
        log.write_bytes(b"".join(data.splitlines(keepends=True)[:2]))
        assert keel("audit", "verify").code == 0
        done = keel.json("audit", "verify", "--expect-head", head)
        assert (done.code, done.codes) == (1, ["audit-head-missing"])

    def test_events_are_shown_by_run_and_tool(self, keel: Keel, log: Path) -> None:
        assert log.exists()
        done = keel("audit", "show")
        assert len(done.out.splitlines()) == 3
        assert "\x1b" not in done.out
        assert "asked run_id=r0 text=" in done.out
        assert len(keel("audit", "show", "--run", "r0").out.splitlines()) == 2
        assert keel("audit", "show", "--tool", "bank/wipe").out == ""
        shown = [json.loads(line) for line in keel("audit", "show", "--run", "r1", "--format", "json").out.splitlines()]
        assert [(item["seq"], item["event"]["text"]) for item in shown] == [(2, "a\x1b b")]

    def test_a_missing_one_is_2(self, keel: Keel) -> None:
        for words in (["verify"], ["head"], ["show"]):
            assert keel("audit", *words).code == 2
