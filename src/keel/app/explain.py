"""`keel explain`: the documentation of a code or a rule, or the list of all."""

from __future__ import annotations

from keel.core.codes import CODES, CodeInfo, Gate
from keel.core.text import did_you_mean
from keel.errors import UsageError


def listing() -> str:
    """Return every code and every rule with its severity and summary, codes by gate and rules by category."""
    from keel.rules.interface import Category  # noqa: PLC0415 - the tables of the rules are large
    from keel.rules.registry import BY_ID  # noqa: PLC0415

    blocks = []
    for gate in Gate:
        rows = [(info.code, info.severity.value, info.summary) for info in CODES.values() if info.gate is gate]
        blocks.append(_block(gate.value, rows))
    for category in Category:
        metas = [rule.meta for rule in BY_ID.values() if rule.meta.category is category]
        blocks.append(
            _block(f"lint: {category.value}", [(meta.id, meta.severity.value, meta.summary) for meta in metas])
        )
    return "\n\n".join(block for block in blocks if block) + "\n"


def _block(title: str, rows: list[tuple[str, str, str]]) -> str:
    lines = [f"  {code:<30} {severity:<8} {summary}" for code, severity, summary in sorted(rows)]
    return "\n".join([title, *lines]) if lines else ""


def explain(code: str) -> str:
    """Return the documentation of one code or rule; for a provider's limits with the dated table.

    Raises:
        UsageError: if there is no such code.
    """
    from keel.rules.docs import page  # noqa: PLC0415 - the tables of the rules are large
    from keel.rules.registry import BY_ID  # noqa: PLC0415

    info, rule = CODES.get(code), BY_ID.get(code)
    if info is None and rule is None:
        known = (*CODES, *BY_ID)
        raise UsageError(
            f"there is no code `{code}`", hint=did_you_mean(code, known) or "`keel explain` lists them all"
        )
    parts = [_page(info)] if info is not None else []
    if rule is not None:
        parts.append(page(rule))
    return "\n".join(parts)


def _page(info: CodeInfo) -> str:
    accepted = "a suppression with reason and date is accepted" if info.suppressible else "accepts no suppression"
    return (
        f"{info.code} ({info.severity.value}, gate {info.gate.value})\n\n"
        f"{info.summary[:1].upper()}{info.summary[1:]}.\n\n"
        f"Why: {info.why}\nNext: {info.next}\n\nThis code {accepted}.\n"
    )
