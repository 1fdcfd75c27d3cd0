"""Identity that the model chooses: tenant, subject, role, acting user."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.hazards.shared import hazard_meta
from keel.rules.interface import Rule, RuleContext, ToolView
from keel.rules.lazy import lazy
from keel.rules.view import Parameter
from keel.rules.words import listed, word_sets

_ALWAYS = word_sets(
    "tenant impersonate impersonated acting_user act_as on_behalf_of run_as caller current_user principal",
    "subject_id sub_claim as_user acting_as sudo_user effective_user requesting_user assume_role",
    "my_user_id",
)
"""Names that mean the caller whatever the text says."""
_PERHAPS = listed(
    "user uid account org organisation organization workspace customer role roles scope scopes permission",
    "permissions session member owner company group realm subject identity actor employee person client team",
    "email login username clearance privileges entitlements admin superuser staff",
)
_SELF = lazy(
    r"\b(?:of|for) the (?:calling|current|acting|requesting) (?:user|account|agent|customer|tenant|employee)\b"
    r"|\bcaller(?:'s)?\b|\bsigned[- ]in\b|\blogged[- ]in\b|\bauthenticated\b|\bacting (?:as|user)\b"
    r"|\bown account\b|\bon (?:whose|the) behalf\b|\btaken from the session\b|\bto act as\b"
    r"|\bperform(?:ing|s)? the (?:call|action|request)\b"
    r"|\bcurrent (?:user|session|account|tenant)(?:'s)?\b|\bmaking the (?:call|request)\b"
    r"|\bgranted (?:scopes|roles|permissions)\b|\b(?:scopes|roles|permissions) (?:that are )?granted\b"
    r"|\bwhose (?:rights|permissions)\b|\b(?:the )?requester\b"
)
_OTHER = lazy(r"\b(?:not|never|other than|another)\b")


class IdentityAsArgument(Rule):
    """Finds arguments that say who calls, which the harness knows and the model must not choose."""

    meta = hazard_meta(
        "identity-as-argument",
        "an argument lets the model choose who it acts for",
        "A model that can be talked into another tenant, role or user breaks every check that relies on the argument.",
        "take the value from the trusted context of the session, not from the model",
        '{"inputSchema": {"properties": {"tenant_id": {"type": "string"}}}}',
        "OWASP MCP07:2025 Insufficient Authentication & Authorization",
        "CWE-639",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each argument."""
        declared = frozenset(name.lower() for name in context.identity_names)
        for parameter in tool.parameters:
            if parameter.name.lower() in declared or _is_identity(parameter) or _stands_for_the_caller(tool, parameter):
                message = f"`{excerpt(parameter.name)}` lets the model choose whom it acts for"
                yield self.finding(tool, parameter.pointer, message)


_IDS = word_sets("user_id customer_id account_id member_id employee_id client_id")
_OWN = lazy(
    r"\bof the (?:signed[- ]in|logged[- ]in|current|calling|authenticated) (?:user|customer|account|member|employee)\b"
)


def _stands_for_the_caller(tool: ToolView, parameter: Parameter) -> bool:
    """Tell whether a tool on the caller's own data asks whose data it is."""
    return (
        parameter.top
        and frozenset(parameter.words) in _IDS
        and _OWN.search(tool.about) is not None
        and not _OTHER.search(parameter.about)
    )


@lru_cache(maxsize=8192)
def _names_the_caller(words: tuple[str, ...]) -> bool:
    said = frozenset(words)
    return any(name <= said for name in _ALWAYS)


def _is_identity(parameter: Parameter) -> bool:
    if _names_the_caller(parameter.words):
        return True
    return (
        not _PERHAPS.isdisjoint(parameter.words)
        and _SELF.search(parameter.about) is not None
        and not _OTHER.search(parameter.about)
    )
