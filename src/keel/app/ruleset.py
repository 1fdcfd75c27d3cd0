"""Names the rules that judged, apart from what they judged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

JUDGES = ("analysis", "compat", "core", "flow", "gates", "lockfile", "manifest", "native", "rules")
"""The packages that what the gates find depends on."""


def rules_digest(root: Traversable | None = None) -> str:
    """Return `sha256:<hex>` of the source of everything that judges; equal for equal rules, wherever they stand.

    Two bundles of the same lock differ in it when keel was upgraded in between.

    Args:
        root: the package that holds the `JUDGES`; this keel when absent.
    """
    root = files("keel") if root is None else root
    whole = hashlib.sha256()
    for name, data in (entry for package in JUDGES for entry in _sources(root / package, package)):
        whole.update(f"{name} {hashlib.sha256(data).hexdigest()}\n".encode())
    return f"sha256:{whole.hexdigest()}"


def _sources(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _sources(entry, f"{name}/{entry.name}")
        elif entry.name.endswith(".py"):
            yield f"{name}/{entry.name}", entry.read_bytes()
