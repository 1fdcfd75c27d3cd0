"""`keel explain`: the documentation of a code, or the list of all."""

from __future__ import annotations

from keel.core.codes import CODES, CodeInfo, Gate
from keel.core.text import did_you_mean
from keel.errors import UsageError


def listing() -> str:
    """Return every code with its severity and summary, by gate."""
    blocks = []
    for gate in Gate:
        infos = [info for info in CODES.values() if info.gate is gate]
        if infos:
            rows = "\n".join(f"  {info.code:<26} {info.severity.value:<8} {info.summary}" for info in infos)
            blocks.append(f"{gate.value}\n{rows}")
    return "\n\n".join(blocks) + "\n"


def explain(code: str) -> str:
    """Return the documentation of one code.

    Raises:
        UsageError: if there is no such code.
    """
    info = CODES.get(code)
    if info is None:
        raise UsageError(
            f"there is no code `{code}`", hint=did_you_mean(code, CODES) or "`keel explain` lists them all"
        )
    return _page(info)


def _page(info: CodeInfo) -> str:
    accepted = "a suppression with reason and date is accepted" if info.suppressible else "accepts no suppression"
    return (
        f"{info.code} ({info.severity.value}, gate {info.gate.value})\n\n"
        f"{info.summary[:1].upper()}{info.summary[1:]}.\n\n"
        f"Why: {info.why}\nNext: {info.next}\n\nThis code {accepted}.\n"
    )
