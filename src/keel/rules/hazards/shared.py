"""What the hazard rules share: which arguments are unbounded, and what a tool's text says is done with them."""

from __future__ import annotations

import re

from keel.rules.interface import Category, Precision, RuleMeta, Severity, ToolView
from keel.rules.lazy import lazy
from keel.rules.view import Parameter, sentences
from keel.rules.words import listed, word_sets

_BOUNDING = ("enum", "const", "pattern")
_DENIED = lazy(r"\b(?:not|never|nothing is|no longer|without)\b|\bn't\b")
_INERT = lazy(
    r"\b(?:nothing is|not|never)\s(?:be\s|being\s|actually\s)?"
    r"(?:executed|run|evaluated|fetched|sent|performed|applied|called|opened|downloaded|contacted)\b"
)
"""A sentence such as `Nothing is executed`."""
_SHORT_CAP = 64
"""Characters; a string that short is a name, not a program."""


def free_string(parameter: Parameter) -> bool:
    """Tell whether an argument takes any string: of type string or untyped, without enum, const or pattern."""
    types = parameter.types
    if types and "string" not in types:
        return False
    if not types and not isinstance(parameter.schema, dict):
        return False
    longest = parameter.get("maxLength")
    if isinstance(longest, int) and longest <= _SHORT_CAP:
        return False
    return all(parameter.get(keyword) is None for keyword in _BOUNDING)


def says(tool: ToolView, parameter: Parameter, pattern: re.Pattern[str]) -> bool:
    """Tell whether the name, the description or the argument's own text matches, and no matching sentence denies it."""
    said = [
        sentence for text in (tool.about, parameter.about) for sentence in sentences(text) if pattern.search(sentence)
    ]
    if any(_DENIED.search(sentence) for sentence in said) or _INERT.search(tool.about):
        return False
    return bool(said) or pattern.search(" ".join(tool.words)) is not None


_MONEY = listed(
    "pay charge transfer refund purchase buy order withdraw deposit payout wire remit invest trade tip donate",
    "checkout reimburse disburse settle",
)
_MONEY_NOUNS = listed(
    "payment payments money order orders refund invoice payout transfer card funds purchase subscription",
    "booking shares stock crypto transaction bill",
)
_PLACING = listed(
    "place create make send submit execute issue capture book confirm initiate process schedule",
)
_READING = listed(
    "get list query search find read show fetch lookup check estimate quote preview calculate describe",
)
_MONEY_OBJECTS = listed(
    "payment payments money refund payout transfer funds purchase card shares crypto transaction bill",
)
_PLACED = frozenset(["order", "orders", "booking", "trade"])


def moves_money(tool: ToolView) -> bool:
    """Tell by the words of its name whether a tool moves money or places a binding order."""
    words = tool.words
    if not words or words[0] in _READING or tool.hint("readOnlyHint") is True:
        return False
    verb, rest = words[0], frozenset(words[1:])
    if verb in _MONEY and verb != "order":
        return verb not in ("transfer", "wire", "settle", "trade", "tip") or bool(rest & _MONEY_NOUNS)
    if verb in _PLACING and rest & _MONEY_OBJECTS:
        return True
    return verb == "place" and bool(rest & _PLACED)


_KEY_WORDS = word_sets(
    "idempotency idempotent request_id client_token dedupe dedup deduplication nonce client_reference",
    "transaction_reference client_order_id operation_id correlation_id",
)


def has_idempotency_key(tool: ToolView) -> bool:
    """Tell whether any argument is an idempotency key, by name or by what its text says."""
    return any(
        any(words <= frozenset(parameter.words) for words in _KEY_WORDS) or "idempoten" in parameter.about
        for parameter in tool.parameters
    )


def hazard_meta(
    id: str,  # noqa: A002 - the field's own name
    summary: str,
    why: str,
    next: str,  # noqa: A002 - the field's own name
    example: str,
    *references: str,
    severity: Severity = Severity.WARNING,
    precision: Precision = Precision.HEURISTIC,
) -> RuleMeta:
    """Build the documentation of a hazard rule from what differs between them."""
    return RuleMeta(
        id=id,
        category=Category.HAZARDS,
        severity=severity,
        summary=summary,
        why=why,
        next=next,
        example=example,
        precision=precision,
        references=references,
    )
