"""One pair of surfaces for each drift code: the pair gives exactly that code."""

from __future__ import annotations

from pathlib import Path

import pytest

from keel.capture.replay import read_surface
from keel.core.model import Surface
from keel.drift.locks import compare_surface_files
from keel.manifest.severities import codes

FIXTURES = Path(__file__).parents[3] / "fixtures" / "compat"
OF_LOCKS = {"body-changed", "contract-lowered", "contract-raised", "manifest-loosened"}
"""Codes that no surface gives: they compare locks and manifests."""
TOGETHER = {"tool-renamed": {"tool-added"}}
"""What a code never comes without."""


def read(path: Path) -> Surface:
    return read_surface(path.read_bytes(), "tickets", path.name)[0]


def test_every_code_has_a_pair() -> None:
    assert {path.name for path in FIXTURES.iterdir()} == set(codes()) - OF_LOCKS


@pytest.mark.parametrize("code", sorted(set(codes()) - OF_LOCKS))
def test_a_pair_gives_its_code_and_no_other(code: str) -> None:
    old, new = (read(FIXTURES / code / f"{side}.json") for side in ("old", "new"))
    assert {item.code for item in compare_surface_files("tickets", old, new)} == {code} | TOGETHER.get(code, set())
    assert compare_surface_files("tickets", new, new) == ()
    assert all(item.digest for item in compare_surface_files("tickets", old, new))
