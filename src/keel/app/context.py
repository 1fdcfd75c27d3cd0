"""What every use case is given: the project, the environment, the date, and somewhere to say what is going on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from keel.core.model import Contract, Json, NativeDeclaration
from keel.manifest.launch import launch_fingerprint
from keel.manifest.policy import contract_for
from keel.store.cache import verified_folder
from keel.store.locks import LockFiles
from keel.store.project import Project

JOBS = 32
"""How many servers are asked at the same time: enough for most projects to take the time of their slowest."""

Progress = Callable[[str, str], None]
"""Told the name of a server and what is happening to it."""


@dataclass(frozen=True, slots=True)
class Context:
    """One run in one project; time and environment are values here, so that the same input gives the same bytes."""

    project: Project
    environ: Mapping[str, str]
    today: date
    jobs: int = JOBS
    """How many servers are asked at the same time."""
    timeout_s: float | None = None
    """Overrides every server's own deadline per phase."""
    progress: Progress | None = None
    login: Callable[[str], None] | None = None
    """Shows a login page to the person at the keyboard; None when nobody is there."""

    @property
    def files(self) -> LockFiles:
        """Where the lock lives."""
        return LockFiles(self.project.root, self.project.lock, verified_folder())

    @property
    def launches(self) -> dict[str, str]:
        """Configured server to the fingerprint of its launch."""
        return {server.name: launch_fingerprint(server) for server in self.project.servers}

    def say(self, name: str, what: str) -> None:
        """Report progress, where anyone listens."""
        if self.progress is not None:
            self.progress(name, what)


def contracts(
    context: Context, wires: Mapping[str, Mapping[str, Json]], native: Mapping[str, NativeDeclaration]
) -> dict[str, Contract]:
    """Return the contract that manifest, hints and declarations give each tool.

    Args:
        context: the run.
        wires: tool key to its definition.
        native: native tool key to what `@tool` declares.
    """
    return {
        key: contract_for(key, context.project.manifest, _hints(key, wire), native.get(key))
        for key, wire in wires.items()
    }


def _hints(key: str, wire: Mapping[str, Json]) -> Mapping[str, Json] | None:
    hints = wire.get("annotations")
    return hints if "/" in key and isinstance(hints, Mapping) else None
