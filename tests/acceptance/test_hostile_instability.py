"""Definitions that differ by machine or by start: found at a freeze, settled by what it prints, kept out of drift."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.acceptance.harness import Keel, Result, put
from tests.acceptance.servers import Servers, bytes_of

CODES = {"unstable-definition", "stability-unverified", "volatile-too-wide"}


def unsteady(done: Result) -> list[dict[str, Any]]:
    """Return the findings about stability."""
    return [item for item in done.report["findings"] if item["code"] in CODES]


def entries(done: Result) -> list[dict[str, str]]:
    """Return the `volatile` entries that a freeze prints, read as the YAML that a person would paste."""
    printed = [re.search(r"`(- \{.*\})`$", item["next"]) for item in unsteady(done)]
    assert all(printed), done.out
    return [dict(YAML(typ="safe").load(match[1])[0]) for match in printed if match]


def starts(keel: Keel) -> int:
    """Count the starts since the last count."""
    log = keel.root / "starts"
    count = len(log.read_text()) if log.exists() else 0
    log.unlink(missing_ok=True)
    return count


@pytest.fixture
def servers(keel: Keel) -> Servers:
    """Return a project of one server that counts its starts."""
    project = Servers(keel, ["s"])
    counting = f"open({str(keel.root / 'starts')!r}, 'a').write('x')\n"
    put(
        keel.root,
        {
            "serve.py": counting
            + (keel.root / "serve.py")
            .read_text()
            .replace("chosen = pathlib.Path(sys.argv[1])", f"chosen = pathlib.Path({str(keel.root)!r}, sys.argv[1])")
        },
    )
    return project


def test_only_new_and_changed_surfaces_are_started_again(servers: Servers) -> None:
    keel = servers.keel
    assert keel("freeze").code == 0
    assert starts(keel) == 2
    assert keel("freeze", "s").code == keel("freeze").code == keel("drift").code == 0
    assert starts(keel) == 2
    servers.behave({"s": "two-pages"})
    assert keel("freeze", "s").code == 0
    assert starts(keel) == 3
    servers.behave({"s": "quiet"})
    assert keel("freeze", "s", "--once").code == 0
    assert starts(keel) == 1


def test_what_is_printed_settles_a_time_zone(servers: Servers) -> None:
    keel = servers.keel
    servers.behave({"s": "time-zone"})
    first = keel.json("freeze")
    assert first.code == 0
    (found,) = unsteady(first)
    assert (found["code"], found["location"]["key"], found["location"]["pointer"]) == (
        "unstable-definition",
        "s/alpha",
        "/description",
    )
    servers.servers["s"]["volatile"] = entries(first)
    servers.write()
    assert unsteady(keel.json("freeze", "s")) == []
    before = bytes_of(keel.root)
    assert "‹volatile›" in before["keel.lock.d/s.json"].decode()
    assert "Etc/UTC" not in before["keel.lock.d/s.json"].decode()
    servers.servers["s"]["env"]["TZ"] = "Asia/Tokyo"
    servers.write()
    assert keel("freeze", "s").code == 0
    assert bytes_of(keel.root)["keel.lock.d/s.json"] == before["keel.lock.d/s.json"]
    assert keel.json("drift").codes == []


def test_the_order_of_a_set_is_found_and_is_unstable_not_drifted(servers: Servers) -> None:
    keel = servers.keel
    servers.behave({"s": "set-order"})
    assert [item["code"] for item in unsteady(keel.json("freeze"))] == ["unstable-definition"]
    before = bytes_of(keel.root)
    done = keel.json("drift", "--confirm", "3")
    assert (done.code, done.gaps) == (3, ["unstable"])
    assert "text-changed" not in done.codes
    assert bytes_of(keel.root) == before
    assert keel.json("drift", "--confirm", "0").code == 1


def test_a_real_difference_is_confirmed_once_by_default(servers: Servers) -> None:
    keel = servers.keel
    assert keel("freeze", "--once").code == 0
    starts(keel)
    servers.behave({"s": "two-pages"})
    done = keel.json("drift")
    assert (done.code, done.codes, done.gaps) == (1, ["tool-added"], [])
    assert starts(keel) == 2
    assert keel.json("drift", "--confirm", "0").codes == ["tool-added"]
    assert starts(keel) == 1


def test_paths_are_probed_only_when_asked(servers: Servers) -> None:
    keel = servers.keel
    servers.servers["s"]["command"][1] = str(keel.root / "serve.py")
    servers.write()
    servers.behave({"s": "home"})
    assert unsteady(keel.json("freeze")) == []
    (keel.root / "keel.lock").unlink()
    (found,) = unsteady(keel.json("freeze", "--probe-paths"))
    assert found["location"]["pointer"] == "/description"


def test_a_second_start_that_fails_is_an_info_and_freezes(servers: Servers) -> None:
    keel = servers.keel
    servers.behave({"s": "only-here"})
    done = keel.json("freeze")
    assert (done.code, [(item["code"], item["severity"]) for item in unsteady(done)]) == (
        0,
        [("stability-unverified", "info")],
    )
    assert "keel.lock.d/s.json" in bytes_of(keel.root)


def test_a_mask_never_hides_text_from_a_freeze(servers: Servers) -> None:
    keel = servers.keel
    servers.servers["s"]["volatile"] = [{"tool": "alpha", "pointer": "/description", "match": "Does.*"}]
    servers.write()
    assert [item["code"] for item in unsteady(keel.json("freeze"))] == ["volatile-too-wide"]
    assert "‹volatile›" not in bytes_of(keel.root)["keel.lock.d/s.json"].decode()


@pytest.mark.real
def test_the_time_server_is_settled_by_what_is_printed(keel: Keel) -> None:
    script = Path(sys.executable).with_name("mcp-server-time")
    if not script.exists():
        pytest.skip(f"mcp-server-time is not beside {sys.executable}")
    project = Servers(keel, ["time"])
    project.servers["time"]["command"] = ["mcp-server-time"]
    project.write()
    first = keel.json("freeze", TZ="Europe/Berlin")
    assert first.code == 0
    assert {item["code"] for item in unsteady(first)} == {"unstable-definition"}
    project.servers["time"]["volatile"] = entries(first)
    project.write()
    assert unsteady(keel.json("freeze", "time")) == []
    before = bytes_of(keel.root)
    (keel.root / "keel.lock").unlink()
    project.servers["time"]["pass_env"] = ["TZ"]
    project.write()
    assert keel("freeze", TZ="America/Lima").code == 0
    assert bytes_of(keel.root)["keel.lock.d/time.json"] == before["keel.lock.d/time.json"]
