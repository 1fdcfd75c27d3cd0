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
from keel.drift.wording import describe


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
    change = _Change(field, old, new, verdict)
    yield from _input(change) if field == "inputSchema" else _output(change)


def _output_presence(at: str, *, gone: bool) -> SchemaChange:
    if gone:
        return SchemaChange("output-breaking", at, "`outputSchema` is gone: results are no longer described")
    return SchemaChange("output-widened", at, "`outputSchema` is new: results are now described")


def _input(change: _Change) -> Iterator[SchemaChange]:
    verdict = change.verdict
    refused = _shown(verdict.witness_old_not_new, "was accepted, is refused")
    if verdict.input is Side.BREAKING:
        yield change.as_("input-breaking", refused)
    elif verdict.input is Side.LATENT:
        yield change.as_("input-latent", refused)
    elif verdict.input is Side.UNDECIDED:
        yield change.undecided()
    elif verdict.output is Side.COMPATIBLE:
        yield change.respelled()
    else:
        yield change.as_("input-widened", _shown(verdict.witness_new_not_old, "was refused, is accepted"))


def _output(change: _Change) -> Iterator[SchemaChange]:
    verdict = change.verdict
    if verdict.output is Side.BREAKING:
        yield change.as_("output-breaking", _shown(verdict.witness_new_not_old, "could not be returned, now can"))
    elif verdict.output is Side.LATENT:
        # What a consumer never agreed to arrives only under names that it does not know.
        yield change.as_("output-widened", _shown(verdict.witness_new_not_old, "could not be returned, now can"))
    elif verdict.output is Side.UNDECIDED:
        yield change.undecided()
    elif verdict.input is Side.COMPATIBLE:
        yield change.respelled()
    else:
        yield change.as_("output-widened", _shown(verdict.witness_old_not_new, "could be returned, no longer can"))


@dataclass(frozen=True, slots=True)
class _Change:
    """A pair of schemas with their verdict."""

    field: str
    old: Any
    new: Any
    verdict: Verdict

    def as_(self, code: str, example: str) -> SchemaChange:
        clause = describe(self.old, self.new, self.verdict.pointer) or f"`{self.field}` changed"
        return SchemaChange(code, f"/{self.field}{self.verdict.pointer}", f"{clause}{example}")

    def undecided(self) -> SchemaChange:
        clause = describe(self.old, self.new, self.verdict.pointer) or f"`{self.field}` changed"
        reason = self.verdict.reason.rstrip(".")
        return SchemaChange("schema-undecided", f"/{self.field}{self.verdict.pointer}", f"{clause}; {reason}")

    def respelled(self) -> SchemaChange:
        text = f"`{self.field}` is written differently and means the same"
        return SchemaChange("representation-only", f"/{self.field}", text)


def _shown(witness: Witness | None, what: str) -> str:
    if witness is None:
        return ""
    return f"; `{excerpt(json.dumps(witness.value, ensure_ascii=False, sort_keys=True), 120)}` {what}"


_OPEN = frozenset({"$schema", "additionalProperties", "description", "properties", "required", "title", "type"})


def collapsed(old: Any, new: Any) -> bool:
    """Tell whether a schema that described properties was replaced by one that describes nothing."""
    if not isinstance(old, dict) or not isinstance(new, dict) or not old.get("properties"):
        return False
    empty = not new.get("properties") and not new.get("required") and new.keys() <= _OPEN
    return empty and new.get("additionalProperties") is not False and old.keys() - {"$schema"} != new.keys()
