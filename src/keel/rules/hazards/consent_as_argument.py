"""Arguments by which the model consents in the user's place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.hazards.shared import hazard_meta
from keel.rules.interface import Rule, RuleContext, ToolView
from keel.rules.lazy import lazy
from keel.rules.view import Parameter

_CONSENT = frozenset(
    {"confirmed", "user_confirmed", "approved", "user_approved", "user_consent", "user_consented", "consent_given"}
    | {"human_approved", "is_confirmed", "is_approved", "has_consent", "acknowledged", "user_agreed", "consent"}
)
_SKIP = frozenset({"skip", "no", "without", "bypass", "disable", "auto", "suppress", "assume", "ignore"})
_ASKING = frozenset(
    {
        "confirm",
        "confirmation",
        "confirmations",
        "prompt",
        "prompts",
        "approval",
        "approve",
        "yes",
        "consent",
        "warning",
    }
)
_FORCING = frozenset({"force", "yes", "assume_yes", "noconfirm", "non_interactive"})


class ConsentAsArgument(Rule):
    """Finds switches that claim consent or skip the question, and `force` that is on by default."""

    meta = hazard_meta(
        "consent-as-argument",
        "the model can consent in the user's place",
        "A confirmation that is an argument is given by whoever writes the call: the model, or the text it has read.",
        "ask through the host, by elicitation or an approval gate, and leave the switch out",
        '{"inputSchema": {"properties": {"skip_confirmation": {"type": "boolean"}}}}',
        "SAFE-T1403 Consent-Fatigue Exploit",
        "CWE-862",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each switch."""
        for parameter in tool.parameters:
            if _speaks_of_consent(parameter.words) and parameter.types <= _SWITCH and _consents(parameter):
                message = f"`{excerpt(parameter.name)}` lets the model consent in the user's place"
                yield self.finding(tool, parameter.pointer, message)


_ANSWERS = lazy(r"\b(?:all|any|every) (?:question|prompt|confirmation)s?\b|\bwithout (?:asking|prompting|confirm)")
"""What a switch says of itself that answers in the user's place."""
_SWITCH = frozenset({"boolean", "null"})


@lru_cache(maxsize=8192)
def _speaks_of_consent(words: tuple[str, ...]) -> bool:
    """Tell whether a name could be a switch of either kind."""
    return not _ASKING.isdisjoint(words) or "_".join(words) in _CONSENT | _FORCING


def _consents(parameter: Parameter) -> bool:
    words = frozenset(parameter.words)
    joined = "_".join(parameter.words)
    if joined in _CONSENT or (words & _SKIP and words & _ASKING):
        return True
    if joined in _FORCING:
        return parameter.get("default") is True or _ANSWERS.search(parameter.about) is not None
    return False
