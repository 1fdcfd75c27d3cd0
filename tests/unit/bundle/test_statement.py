"""The statement: what it says of a bundle, byte by byte, and every bundle that it is not about."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.bundle.archives import members
from tests.unit.bundle.test_bundle import contents

from keel.bundle.contents import ENVELOPE, GATES, INDEX, LOCK, build
from keel.bundle.statement import PREDICATE_TYPE, StatementError, disagreements, statement_of

GATE_REPORT = {
    "counts": {"error": 0, "warning": 2, "info": 1, "not_checked": 0},
    "findings": [
        {"gate": "approval", "code": "approval-unseen-argument"},
        {"gate": "approval", "code": "approval-unseen-argument"},
        {"gate": "lint", "code": "open-object"},
    ],
    "suppressed": [{"code": "unused-grant", "key": "s/t", "reason": "soon", "until": "2027-01-31"}],
    "rules": {"digest": "sha256:" + "0" * 64, "profile": "default", "targets": ["openai"]},
}
HELD = members(build(replace(contents(), gate_report=GATE_REPORT, sequence=7)))


def sha256(data: bytes) -> dict[str, str]:
    return {"sha256": hashlib.sha256(data).hexdigest()}


def test_what_it_says() -> None:
    """The fields of in-toto Statement v1, and those of our predicate, which are never to change under its name."""
    assert PREDICATE_TYPE == "urn:keel-toolchain:bundle:v1"
    assert json.loads(statement_of(HELD)) == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": sha256(data)} for name, data in sorted(HELD.items())],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "project": "p",
            "freezeTiming": "deploy_time",
            "sequence": 7,
            "flows": ["m:f"],
            "gates": {
                "counts": {"error": 0, "warning": 2, "info": 1, "not_checked": 0},
                "findings": {"approval": {"approval-unseen-argument": 2}, "lint": {"open-object": 1}},
            },
            "suppressions": GATE_REPORT["suppressed"],
            "rules": GATE_REPORT["rules"],
            "lock": {"index": sha256(HELD[LOCK]), "surfaces": {"s": sha256(HELD["lock/keel.lock.d/s.json"])}},
        },
    }


def test_its_bytes_follow_from_the_members_alone() -> None:
    assert statement_of(HELD) == statement_of(dict(reversed(HELD.items())))
    assert statement_of({**HELD, ENVELOPE: b"signed"}) == statement_of(HELD)
    assert list(disagreements(statement_of(HELD), HELD)) == []


@pytest.mark.parametrize("name", sorted(HELD))
def test_every_byte_of_every_member_counts(name: str) -> None:
    assert f"member `{name}` was altered" in list(disagreements(statement_of(HELD), {**HELD, name: HELD[name] + b"\n"}))


def test_a_member_more_and_a_member_less() -> None:
    less = {name: data for name, data in HELD.items() if name != "sources/flows.py"}
    assert list(disagreements(statement_of(HELD), less)) == ["member `sources/flows.py` is missing"]
    assert list(disagreements(statement_of(less), HELD)) == ["member `sources/flows.py` is not in the statement"]


def bent(**changes: Any) -> bytes:
    return json.dumps({**json.loads(statement_of(HELD)), **changes}).encode()


def bent_predicate(**changes: Any) -> bytes:
    return bent(predicate={**json.loads(statement_of(HELD))["predicate"], **changes})


SUBJECT = json.loads(statement_of(HELD))["subject"]
BENT = {
    "type": (bent(_type="https://in-toto.io/Statement/v0.1"), "`_type` `https://in-toto.io/Statement/v0.1`"),
    "predicate type": (bent(predicateType="https://slsa.dev/provenance/v1"), "`predicateType`"),
    "no subject": (bent(subject=None), "is not in the statement"),
    "subject twice": (bent(subject=[*SUBJECT, SUBJECT[0]]), "names a subject twice"),
    "subject without name": (bent(subject=[*SUBJECT, {"digest": {}}]), "names a subject twice, or one without a name"),
    "subject as text": (bent(subject=[*SUBJECT, "x"]), "names a subject twice, or one without a name"),
    "other algorithm": (bent(subject=[{**SUBJECT[0], "digest": {"sha1": "0"}}, *SUBJECT[1:]]), "was altered"),
    "no predicate": (bent(predicate=[]), "has no predicate"),
    "project": (bent_predicate(project="q"), "something else of `project`"),
    "sequence": (bent_predicate(sequence=8), "something else of `sequence`"),
    "gates": (bent_predicate(gates={}), "something else of `gates`"),
    "suppressions": (bent_predicate(suppressions=[]), "something else of `suppressions`"),
    "rules": (bent_predicate(rules={}), "something else of `rules`"),
    "lock": (bent_predicate(lock={}), "something else of `lock`"),
    "more": (bent_predicate(builder="x"), "something else of `builder`"),
    "written otherwise": (bent(), "not written as keel writes it"),
    "no JSON": (b"{", "is damaged"),
    "a list": (b"[]", "is not an object"),
}


@pytest.mark.parametrize("name", BENT)
def test_what_says_anything_else_is_found(name: str) -> None:
    statement, said = BENT[name]
    found = list(disagreements(statement, HELD))
    assert any(said in item for item in found), found


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        (INDEX, None, "is missing"),
        (LOCK, None, "is missing"),
        (GATES, b"{", "is damaged"),
        (GATES, b"[]", "is not an object"),
        (GATES, b'{"findings": {}}', "`findings` of member `gates.json`"),
        (GATES, b'{"suppressed": ["x"]}', "`suppressed` of member `gates.json`"),
    ],
)
def test_members_of_which_no_statement_can_be_made(name: str, data: bytes | None, said: str) -> None:
    held = {key: value for key, value in {**HELD, name: data}.items() if value is not None}
    with pytest.raises(StatementError, match=said):
        statement_of(held)
