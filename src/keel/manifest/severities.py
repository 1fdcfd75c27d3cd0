"""The `fail_on` section: which drift severities a manifest may set, by code or by group, and how low."""

from __future__ import annotations

from collections.abc import Mapping

from keel.core.codes import CODES, Gate

GROUPS: Mapping[str, tuple[str, ...]] = {
    "added": ("tool-added",),
    "breaking": (
        "input-breaking",
        "output-breaking",
        "schema-collapsed",
        "schema-undecided",
        "tool-removed",
        "tool-renamed",
    ),
    "contract": ("contract-lowered", "contract-raised", "hints-changed"),
    "extra": ("extra-changed",),
    "identity": ("identity-changed",),
    "latent": ("input-latent",),
    "representation": ("representation-only",),
    "text": ("instructions-changed", "parameter-undocumented", "text-changed"),
    "widened": ("input-widened", "output-widened"),
}
"""Groups of drift codes by their short name."""

FLOORED = frozenset((*GROUPS["breaking"], *GROUPS["contract"], *GROUPS["text"], "manifest-loosened"))
"""Codes that no manifest sets below warning."""


def codes() -> tuple[str, ...]:
    """Return every drift code, sorted."""
    return tuple(sorted(info.code for info in CODES.values() if info.gate is Gate.DRIFT))


def kinds() -> tuple[str, ...]:
    """Return every key that `fail_on` knows, sorted."""
    return tuple(sorted((*GROUPS, *codes())))


def expand(kind: str) -> tuple[str, ...]:
    """Return the codes that a key of `fail_on` stands for."""
    return GROUPS.get(kind, (kind,))


def is_floored(kind: str) -> bool:
    """Tell whether a key of `fail_on` covers a code that must stay at warning or above."""
    return any(code in FLOORED for code in expand(kind))


def settle(given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return sorted (code, severity or never); a code given by name wins over its group."""
    settled: dict[str, str] = {}
    for kind in sorted(given, key=lambda kind: kind not in GROUPS):
        settled.update(dict.fromkeys(expand(kind), given[kind]))
    return tuple(sorted(settled.items()))
