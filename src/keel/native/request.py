"""What the parent asks of the introspection child and what it answers, as values and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from keel.core.finding import Finding, Location, finding


@dataclass(frozen=True, slots=True)
class ModuleRef:
    """A project module to import."""

    name: str
    """Dotted name."""
    file: str
    """Path relative to the project, with forward slashes."""


@dataclass(frozen=True, slots=True)
class ToolRef:
    """A native tool that the static reader found."""

    module: str
    qualname: str
    """Path of names inside the module: `lookup`, `Desk.lookup`."""
    name: str
    """The tool's name."""
    line: int = 0
    """1-based line of the `def`."""


@dataclass(frozen=True, slots=True)
class Request:
    """One introspection: which modules to import, and which tools they must have."""

    project: str
    """Absolute path of the project."""
    roots: tuple[str, ...]
    """Source roots relative to the project, in the order of search."""
    modules: tuple[ModuleRef, ...]
    tools: tuple[ToolRef, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the request as a JSON value."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Request:
        """Build a request from what `to_json` gave."""
        return cls(
            project=value["project"],
            roots=tuple(value["roots"]),
            modules=tuple(ModuleRef(**item) for item in value["modules"]),
            tools=tuple(ToolRef(**item) for item in value["tools"]),
        )


@dataclass(frozen=True, slots=True)
class NativeDefinition:
    """One tool as the child derived it."""

    tool: ToolRef
    wire: Mapping[str, Any]
    """Wire object in `k1` normal form."""
    effect: str
    """What `@tool` declares, as the running module has it."""
    idempotent: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything the child found: a definition for each tool asked for, or findings that say why not."""

    definitions: tuple[NativeDefinition, ...] = ()
    findings: tuple[Finding, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the answer as a JSON value."""
        found = [{"message": item.message, "next": item.next, "at": asdict(item.location)} for item in self.findings]
        return {"definitions": [asdict(item) for item in self.definitions], "findings": found}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Answer:
        """Build an answer from what `to_json` gave.

        Raises:
            KeyError, TypeError: if it is something else.
        """
        definitions = tuple(
            NativeDefinition(ToolRef(**item["tool"]), item["wire"], item["effect"], item["idempotent"])
            for item in value["definitions"]
        )
        findings = tuple(
            finding("native-tool", item["message"], location=Location(**item["at"]), next=item["next"])
            for item in value["findings"]
        )
        return cls(definitions, findings)
