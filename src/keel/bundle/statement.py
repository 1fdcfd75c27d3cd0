"""The in-toto statement about a bundle: which members it has, and what is claimed of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from keel.bundle.contents import ENVELOPE, GATES, INDEX, LOCK, SURFACES
from keel.core.digest import digest_bytes
from keel.core.jsontext import JsonSyntaxError, parse_strict
from keel.core.text import escape

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
"""in-toto Attestation Framework, spec/v1/statement.md."""
PREDICATE_TYPE = "urn:keel-toolchain:bundle:v1"
"""Names what the predicate means; a change of meaning needs another. A name without a domain belongs to nobody else."""


class StatementError(ValueError):
    """Members of which no statement can be made; the message names the member."""


def statement_of(members: Mapping[str, bytes]) -> bytes:
    """Return the statement about members, as JSON; the same members give the same bytes.

    Args:
        members: every member by name; an envelope among them is left out.

    Raises:
        StatementError: if the index, the lock or the gate report is missing or has another shape.
    """
    value = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": digest} for name, digest in sorted(_subjects(members).items())],
        "predicateType": PREDICATE_TYPE,
        "predicate": _predicate(members),
    }
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def disagreements(statement: bytes, members: Mapping[str, bytes]) -> Iterator[str]:
    """Yield where a statement does not say exactly what the members give, each as a sentence; none for equal ones.

    Raises:
        StatementError: as `statement_of` does.
    """
    if statement == statement_of(members):
        return
    try:
        said = parse_strict(statement)
    except JsonSyntaxError as error:
        yield f"the statement is damaged: {error.message}"
        return
    found = list(_differences(said, members)) if isinstance(said, dict) else ["the statement is not an object"]
    yield from found or ["the statement is not written as keel writes it"]


def _differences(said: Mapping[str, Any], members: Mapping[str, bytes]) -> Iterator[str]:
    for name, known in (("_type", STATEMENT_TYPE), ("predicateType", PREDICATE_TYPE)):
        if said.get(name) != known:
            yield f"the statement has `{name}` `{escape(str(said.get(name)))}` instead of `{known}`"
    yield from _subject_differences(said.get("subject"), members)
    predicate, known_predicate = said.get("predicate"), _predicate(members)
    if not isinstance(predicate, dict):
        yield "the statement has no predicate"
        return
    for name in sorted(predicate.keys() | known_predicate.keys()):
        if predicate.get(name) != known_predicate.get(name):
            yield f"the statement says something else of `{escape(name)}` than the members do"


def _subject_differences(subjects: Any, members: Mapping[str, bytes]) -> Iterator[str]:
    expected = _subjects(members)
    listed = subjects if isinstance(subjects, list) else []
    held = [(item.get("name"), item.get("digest")) for item in listed if isinstance(item, dict)]
    signed = {name: digest for name, digest in held if isinstance(name, str)}
    if len(signed) != len(listed):
        yield "the statement names a subject twice, or one without a name"
    for name in sorted(signed.keys() - expected.keys()):
        yield f"member `{escape(name)}` is missing"
    for name in sorted(expected.keys() - signed.keys()):
        yield f"member `{escape(name)}` is not in the statement"
    for name in sorted(expected.keys() & signed.keys()):
        if expected[name] != signed[name]:
            yield f"member `{escape(name)}` was altered"


def _subjects(members: Mapping[str, bytes]) -> dict[str, dict[str, str]]:
    return {name: _digest(data) for name, data in members.items() if name != ENVELOPE}


def _digest(data: bytes) -> dict[str, str]:
    """Return a digest set (in-toto spec/v1/digest_set.md)."""
    return {"sha256": digest_bytes(data).removeprefix("sha256:")}


def _predicate(members: Mapping[str, bytes]) -> dict[str, Any]:
    index, gates = _object(members, INDEX), _object(members, GATES)
    surfaces = {
        name.removeprefix(SURFACES).removesuffix(".json"): name for name in members if name.startswith(SURFACES)
    }
    return {
        "project": index.get("project"),
        "freezeTiming": index.get("freeze_timing"),
        "sequence": index.get("sequence"),
        "flows": index.get("flows"),
        "gates": {"counts": gates.get("counts", {}), "findings": _found(_listed(gates, "findings"))},
        "suppressions": _listed(gates, "suppressed"),
        "rules": gates.get("rules", {}),
        "lock": {
            "index": _digest(_member(members, LOCK)),
            "surfaces": {server: _digest(members[name]) for server, name in sorted(surfaces.items())},
        },
    }


def _found(findings: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Return how many findings there are of each code, by gate."""
    by_gate: dict[str, dict[str, int]] = {}
    counted = Counter((str(item.get("gate")), str(item.get("code"))) for item in findings)
    for (gate, code), count in sorted(counted.items()):
        by_gate.setdefault(gate, {})[code] = count
    return by_gate


def _listed(gates: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = gates.get(name, [])
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise StatementError(f"`{name}` of member `{GATES}` is not a list of objects")
    return found


def _object(members: Mapping[str, bytes], name: str) -> dict[str, Any]:
    try:
        value = parse_strict(_member(members, name))
    except JsonSyntaxError as error:
        raise StatementError(f"member `{name}` is damaged: {error.message}") from error
    if not isinstance(value, dict):
        raise StatementError(f"member `{name}` is not an object")
    return value


def _member(members: Mapping[str, bytes], name: str) -> bytes:
    if name not in members:
        raise StatementError(f"member `{name}` is missing")
    return members[name]
