"""What a rule is: its documentation as values, and one method that yields findings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar

from keel.core.finding import Finding, Gate, Location, Severity
from keel.rules.view import ToolView

__all__ = ["Category", "Precision", "Profile", "Rule", "RuleContext", "RuleMeta", "Severity", "ToolView"]


class Category(StrEnum):
    """What a rule is about; the name of the package it stands in."""

    CHARACTERS = "characters"
    NAMES = "names"
    TEXT = "text"
    SCHEMA = "schema"
    ANNOTATIONS = "annotations"
    HAZARDS = "hazards"
    QUALITY = "quality"
    LIMITS = "limits"
    CONFIG = "config"


class Precision(StrEnum):
    """How sure a finding is."""

    EXACT = "P"
    """An error by definition: no false positive is expected."""
    HEURISTIC = "H"
    """Matches a known pattern; read the text before you act on it."""


class Profile(StrEnum):
    """How demanding lint is."""

    DEFAULT = "default"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class RuleMeta:
    """The documentation of a rule, from which `keel explain` and docs/rules are made."""

    id: str
    """Names the defect in kebab-case and never changes."""
    category: Category
    severity: Severity
    summary: str
    """The defect in one clause, without a full stop."""
    why: str
    """What goes wrong when it stays."""
    next: str
    """What to do about it."""
    example: str
    """A shortest definition, or part of one, that has the defect."""
    precision: Precision
    since: str = "0.1.0"
    references: tuple[str, ...] = ()
    """OWASP MCP, SAFE-MCP, CWE identifiers and specification sections."""
    blocks_freeze: bool = False
    """Whether a finding keeps a server's surface out of the lock."""
    own_only: bool = False
    """Whether the rule judges other people's servers only under the strict profile."""
    strict_severity: Severity | None = None
    """The severity under the strict profile, where it differs."""


@dataclass(frozen=True)
class RuleContext:
    """Everything beside the tool itself that a rule may look at."""

    server: str = ""
    """Name of the tool's server; empty for native tools and definitions without one."""
    tools: tuple[ToolView, ...] = ()
    """Every tool of the same server, the judged one included."""
    others: tuple[tuple[str, str], ...] = ()
    """Sorted (server, tool name) of every other server."""
    targets: tuple[str, ...] = ()
    """Providers the project declares, by the names of `limits.providers`."""
    own: bool = True
    """Whether the definition is the project's own: native, `own: true`, or given to `keel lint`."""
    native: bool = False
    """Whether these are the project's own functions, whose results need not be objects as those of MCP tools must."""
    profile: Profile = Profile.DEFAULT
    identity_names: tuple[str, ...] = ()
    """Further argument names that the project takes from its trusted context."""
    revision: str = ""
    """Negotiated protocol revision, such as `2025-11-25`; empty when unknown."""

    @cached_property
    def own_names(self) -> frozenset[str]:
        """The names of all tools of the server."""
        return frozenset(tool.name for tool in self.tools)

    @cached_property
    def index(self) -> dict[str, Any]:
        """Tables over all tools that rules build once for a surface, by the id of the rule."""
        return {}


class Rule(ABC):
    """One check of one defect. Stateless: one instance serves every tool."""

    meta: ClassVar[RuleMeta]
    needs: ClassVar[int] = 0
    """What of `Sign` a tool and its surroundings must show; without it the rule is not run, since it finds nothing."""

    @abstractmethod
    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield a finding for each place of the tool that has the defect."""

    def finding(
        self,
        tool: ToolView,
        pointer: str,
        message: str,
        *,
        severity: Severity | None = None,
        next: str = "",  # noqa: A002 - the report's own field name
    ) -> Finding:
        """Build a finding of this rule at an RFC 6901 pointer into the tool object."""
        return Finding(
            code=self.meta.id,
            severity=severity or self.meta.severity,
            gate=Gate.LINT,
            message=message,
            why=self.meta.why,
            next=next or self.meta.next,
            location=Location(key=tool.key, pointer=pointer),
            digest=tool.digest,
        )
