"""Where findings stand in the repository."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.report.sample import SAMPLE, hostile

from keel.core.finding import Location, finding
from keel.report.interface import Anchors, Presentation
from keel.report.places import Place, in_repository, place_of

SHOWN = replace(
    SAMPLE, prefix="services/billing", anchors=Anchors("keel.lock", "keel.yaml", "keel.toml", {"s": 4, "s/t": 9})
)


@pytest.mark.parametrize(
    ("code", "location", "place"),
    [
        ("text-changed", Location(key="s/t"), Place("services/billing/keel.lock", 9)),
        ("text-changed", Location(key="s/new"), Place("services/billing/keel.lock", 4)),
        ("text-changed", Location(key="other/t"), Place("services/billing/keel.lock", 1)),
        ("tool-not-granted", Location(key="s/t"), Place("services/billing/keel.yaml", 1)),
        ("config-error", Location(), Place("services/billing/keel.toml", 1)),
        ("approval-missing", Location("flows.py", 3, 7, "s/t"), Place("services/billing/flows.py", 3, 7)),
        ("approval-missing", Location("../shared/flows.py", 3, 7), Place("services/shared/flows.py", 3, 7)),
        ("manifest-error", Location("keel.yaml"), Place("services/billing/keel.yaml", 1)),
    ],
)
def test_each_finding_has_a_file_and_a_line(code: str, location: Location, place: Place) -> None:
    assert place_of(finding(code, "x", location=location), SHOWN) == place


def test_without_a_manifest_or_a_config_the_lock_stands_in() -> None:
    shown = Presentation(SAMPLE.report, "check")
    assert {place_of(finding(code, "x"), shown).file for code in ("tool-not-granted", "config-error")} == {"keel.lock"}


@given(hostile | st.text(), st.sampled_from(["", "a", "a/b"]))
def test_a_path_never_leads_outside_the_repository(file: str, prefix: str) -> None:
    parts = in_repository(file, prefix).split("/")
    assert all(part not in ("", ".", "..") for part in parts)


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("/etc/passwd", "passwd"),
        ("C:\\x\\y.json", "y.json"),
        ("../../../x", "x"),
        ("..", "unnamed"),
        ("./a//b", "p/a/b"),
    ],
)
def test_paths_of_this_machine_keep_their_name_only(file: str, shown: str) -> None:
    assert in_repository(file, "p") == shown
