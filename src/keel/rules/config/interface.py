"""What a rule over configuration is: its documentation, and one look at everything that people wrote."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from keel.core.finding import Finding, Gate, Location
from keel.core.model import Manifest, ServerSpec, Surface
from keel.manifest.config import ProjectConfig
from keel.manifest.launch import launch_fingerprint
from keel.rules.interface import Category, Precision, RuleMeta, Severity


@dataclass(frozen=True, slots=True)
class ConfigContext:
    """A project as people configured it."""

    servers: tuple[ServerSpec, ...] = ()
    """With their launches resolved."""
    manifest: Manifest = field(default_factory=Manifest)
    config: ProjectConfig = field(default_factory=ProjectConfig)
    referenced: frozenset[str] = frozenset()
    """Keys of the tools that flows name."""
    surfaces: Mapping[str, Surface] = field(default_factory=dict)
    """The frozen surface of each server that has one."""


class ConfigRule(ABC):
    """One check of one defect of a configuration. Stateless."""

    meta: ClassVar[RuleMeta]

    @abstractmethod
    def check(self, project: ConfigContext) -> Iterator[Finding]:
        """Yield a finding for each entry that has the defect."""

    def finding(
        self,
        at: Location,
        message: str,
        *,
        severity: Severity | None = None,
        next: str = "",  # noqa: A002 - the report's own field name
        digest: str = "",
    ) -> Finding:
        """Build a finding of this rule."""
        return Finding(
            code=self.meta.id,
            severity=severity or self.meta.severity,
            gate=Gate.LINT,
            message=message,
            why=self.meta.why,
            next=next or self.meta.next,
            location=at,
            digest=digest,
        )

    def about(
        self,
        server: ServerSpec,
        pointer: str,
        message: str,
        *,
        severity: Severity | None = None,
        next: str = "",  # noqa: A002 - the report's own field name
    ) -> Finding:
        """Build a finding about the launch of a server; a suppression of it ends when the launch changes."""
        at = Location(server.file, server.line, server.column, server.name, pointer)
        return self.finding(at, message, severity=severity, next=next, digest=launch_fingerprint(server))


def config_meta(
    id: str,  # noqa: A002 - the field's own name
    summary: str,
    why: str,
    next: str,  # noqa: A002 - the field's own name
    example: str,
    *references: str,
    severity: Severity = Severity.WARNING,
    strict_severity: Severity | None = None,
    precision: Precision = Precision.EXACT,
) -> RuleMeta:
    """Build the documentation of a rule over configuration from what differs between them."""
    return RuleMeta(
        id=id,
        category=Category.CONFIG,
        severity=severity,
        strict_severity=strict_severity,
        summary=summary,
        why=why,
        next=next,
        example=example,
        precision=precision,
        references=references,
    )
