"""The schema axis: what happened to the set of accepted arguments and of possible results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keel.compat.interface import Side, Verdict, Witness
from keel.core.canonical import canonical_bytes
from keel.core.schema import bare
from keel.core.text import excerpt


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One verdict on one side of a tool."""

    code: str
    pointer: str
    """Pointer into the tool."""
    text: str
    """One sentence, the tool's name left out."""


def schema_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[SchemaChange, ...]:
    """Judge the input and the output schema of a tool that kept its name.

    Differences of annotations alone give nothing here; schemas that are written differently and proved equivalent
    give `representation-only`.
    """
    return (
        *_judge("inputSchema", old.get("inputSchema"), new.get("inputSchema")),
        *_judge("outputSchema", old.get("outputSchema"), new.get("outputSchema")),
    )


def _judge(field: str, old: Any, new: Any) -> Iterator[SchemaChange]:
    if canonical_bytes(bare(old)) == canonical_bytes(bare(new)):
        return
    at = f"/{field}"
    if field == "outputSchema" and (old is None or new is None):
        yield _output_presence(at, gone=new is None)
        return
    if collapsed(old, new):
        text = f"`{field}` lost all its properties and now accepts anything"
        yield SchemaChange("schema-collapsed", at, text)
        return
    # Loaded only here: most runs compare nothing but digests.
    from keel.compat.relation import relate  # noqa: PLC0415

    verdict = relate(old, new)
    yield from _input(at, verdict) if field == "inputSchema" else _output(at, verdict)


def _output_presence(at: str, *, gone: bool) -> SchemaChange:
    if gone:
        return SchemaChange("output-breaking", at, "`outputSchema` is gone: results are no longer described")
    return SchemaChange("output-widened", at, "`outputSchema` is new: results are now described")


def _input(at: str, verdict: Verdict) -> Iterator[SchemaChange]:
    where = at + verdict.pointer
    if verdict.input is Side.BREAKING:
        yield SchemaChange(
            "input-breaking",
            where,
            f"{_sentence(verdict)}{_shown(verdict.witness_old_not_new, 'was accepted, is refused')}",
        )
    elif verdict.input is Side.LATENT:
        text = f"{_sentence(verdict)}{_shown(verdict.witness_old_not_new, 'was accepted, is refused')}"
        yield SchemaChange("input-latent", where, text)
    elif verdict.input is Side.UNDECIDED:
        yield SchemaChange("schema-undecided", where, f"`inputSchema` changed and {_sentence(verdict)}")
    elif verdict.output is Side.COMPATIBLE:
        yield SchemaChange("representation-only", at, "`inputSchema` is written differently and means the same")
    else:
        shown = _shown(verdict.witness_new_not_old, "was refused, is accepted")
        yield SchemaChange("input-widened", where, f"`inputSchema` accepts more{shown}")


def _output(at: str, verdict: Verdict) -> Iterator[SchemaChange]:
    where = at + verdict.pointer
    if verdict.output in (Side.BREAKING, Side.LATENT):
        # A consumer meets a value that it never agreed to; undeclared names are what it does not look at.
        code = "output-breaking" if verdict.output is Side.BREAKING else "output-widened"
        shown = _shown(verdict.witness_new_not_old, "could not be returned, now can")
        yield SchemaChange(code, where, f"{_sentence(verdict)}{shown}")
    elif verdict.output is Side.UNDECIDED:
        yield SchemaChange("schema-undecided", where, f"`outputSchema` changed and {_sentence(verdict)}")
    elif verdict.input is Side.COMPATIBLE:
        yield SchemaChange("representation-only", at, "`outputSchema` is written differently and means the same")
    else:
        shown = _shown(verdict.witness_old_not_new, "could be returned, no longer can")
        yield SchemaChange("output-widened", where, f"`outputSchema` promises more{shown}")


def _sentence(verdict: Verdict) -> str:
    return verdict.reason.rstrip(".")


def _shown(witness: Witness | None, what: str) -> str:
    if witness is None:
        return ""
    return f"; for example `{excerpt(json.dumps(witness.value, ensure_ascii=False, sort_keys=True), 120)}` {what}"


_OPEN = frozenset({"$schema", "additionalProperties", "description", "properties", "required", "title", "type"})


def collapsed(old: Any, new: Any) -> bool:
    """Tell whether a schema that described properties was replaced by one that describes nothing."""
    if not isinstance(old, dict) or not isinstance(new, dict) or not old.get("properties"):
        return False
    empty = not new.get("properties") and not new.get("required") and new.keys() <= _OPEN
    return empty and new.get("additionalProperties") is not False and old.keys() - {"$schema"} != new.keys()
