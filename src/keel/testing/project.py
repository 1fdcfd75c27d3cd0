"""The project's lock and manifest as the run time holds a bundle; no flow graphs, no launches, no secrets."""

from __future__ import annotations

from pathlib import Path

from keel.core.model import ServerSpec, Transport
from keel.runtime.bundle import Bundle
from keel.store.locks import LockFiles, load
from keel.store.project import find_project
from keel.testing.errors import FakeError


def locked(project: Path | None, lock: Path | None) -> Bundle:
    """Return what the lock of a project admits.

    Args:
        project: the project's folder; None looks from the working directory up.
        lock: the lock's index; None takes the configured one.

    Raises:
        FakeError: if there is no lock.
        KeelError: if project, manifest or lock cannot be read.
    """
    found = find_project(Path.cwd(), project=project, lock=lock)
    held = load(LockFiles(found.root, found.lock))
    if held is None:
        raise FakeError(f"there is no lock `{found.lock}`: run `keel freeze`, for fakes are held to what was frozen")
    # Servers keep their policies and lose everything by which they could be reached.
    servers = {
        spec.name: ServerSpec(spec.name, Transport.SURFACE, policy=spec.policy)
        for spec in found.servers
        if spec.name in held.surfaces
    }
    return Bundle(
        project=found.root.name,
        digest="",
        manifest=found.manifest,
        lock=held,
        servers=servers,
        secrets={},
        tools=held.frozen_tools(),
        flows={},
        natives={},
        sources={},
    )
