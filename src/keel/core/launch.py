"""How one server is reached once every reference is resolved, and why one was not looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from keel.core.finding import Finding, NotChecked
from keel.core.model import ClientCredentials, Transport, VolatileMask


@dataclass(frozen=True, slots=True)
class Launch:
    """One server, ready to be started or connected to; holds resolved secrets, so it is never written or shown."""

    name: str
    transport: Transport
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The full environment of the child process: nothing else is inherited."""
    cwd: Path | None = None
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_s: float = 60.0
    """Seconds for each phase: spawn, first reply, list."""
    primitives: tuple[str, ...] = ("tools",)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Resolved values that must appear in no message and that a server must not send back."""
    protocol: str | None = None
    """Frozen protocol revision, asked for first."""
    client_credentials: ClientCredentials | None = field(default=None, repr=False)
    """Resolved OAuth client credentials."""
    login: Callable[[str], None] | None = field(default=None, repr=False)
    """Shows a login page to the person at the keyboard; None when nobody is there."""
    surface: Path | None = None
    """The surface file, when it stands for the server."""
    volatile: tuple[VolatileMask, ...] = ()
    """Masks under which two starts are compared; what is captured stays unmasked."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A server that could not be looked at: neither changed nor clean."""

    name: str
    gap: NotChecked
    findings: tuple[Finding, ...] = ()
    """Every error of the surface file that stands for the server, when it is that file that cannot be read."""
