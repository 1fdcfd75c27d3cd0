"""The wire form of a comparison: one mapping in, one mapping out."""

from __future__ import annotations

from keel.compat.interface import Json, Relation, Side, Verdict
from keel.compat.relation import relate


def classify(old: Json, new: Json) -> dict[str, Json]:
    """Compare two schemas and give the verdict as a mapping without an id; flags for each side are added."""
    return _mapping(relate(old, new))


def answer(line: Json) -> dict[str, Json]:
    """Answer one decoded line `{"id", "old", "new"}`.

    Returns:
        The mapping of `keel relate --jsonl`; `{"id", "error"}` when the line has not that form.
    """
    if not isinstance(line, dict) or "old" not in line or "new" not in line:
        return {
            "id": line.get("id") if isinstance(line, dict) else None,
            "error": "a line must be an object with `id`, `old` and `new`",
        }
    return {"id": line.get("id"), **_mapping(relate(line["old"], line["new"]))}


def undecided(identifier: Json, reason: str) -> dict[str, Json]:
    """Answer a line whose schemas cannot be read as they were written."""
    return {
        "id": identifier,
        **_mapping(Verdict(Relation.UNDECIDED, Side.UNDECIDED, Side.UNDECIDED, None, None, "", reason)),
    }


def _mapping(verdict: Verdict) -> dict[str, Json]:
    forward, backward = verdict.witness_old_not_new, verdict.witness_new_not_old
    return {
        "relation": verdict.relation.value,
        "input": verdict.input.value,
        "output": verdict.output.value,
        "witness_old_not_new": None if forward is None else forward.value,
        "witness_new_not_old": None if backward is None else backward.value,
        "pointer": verdict.pointer,
        "reason": verdict.reason,
    }
