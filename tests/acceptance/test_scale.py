"""Many servers and many tools: side by side, complete, and none of it lost to the few that fail."""

from __future__ import annotations

import json
from pathlib import Path

from tests.acceptance.harness import Keel, put, tool
from tests.acceptance.servers import bytes_of, hostile, serving, url_of

FAILING = {"500": "server-failed", "401": "needs-authentication", "empty": "empty-listing"}


def test_sixty_servers_of_which_three_fail(keel: Keel) -> None:
    with serving(["quiet", "slow-list", *FAILING]) as served:
        urls = {name: url_of(server) for name, (server, _) in served.items()}
        entries = {f"s{number:02}": {"url": urls["slow-list" if number % 3 else "quiet"]} for number in range(57)}
        entries |= {f"bad-{name}": {"url": urls[name]} for name in FAILING}
        put(keel.root, {"keel.yaml": json.dumps({"version": 1, "servers": entries})})
        done = keel.json("freeze", "--jobs", "16")
        assert done.code == 3
        assert {item["what"]: item["code"] for item in done.report["not_checked"]} == {
            f"bad-{name}": code for name, code in FAILING.items()
        }
        held = bytes_of(keel.root)
        assert len(held) == 58
        again = keel.json("freeze", "--jobs", "16", "--update")
        assert (again.code, bytes_of(keel.root)) == (3, held)
        compared = keel.json("drift", "--jobs", "16", *(f"--allow-unreachable=bad-{name}" for name in FAILING))
        assert (compared.code, compared.codes) == (0, [])


def big(count: int) -> str:
    """Return the text of a surface file of many small tools."""
    tools = [
        tool(f"find_{number:05}", f"Find record {number} by its key.", schema={"type": "object"})
        for number in range(count)
    ]
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "big", "version": "1"},
    }
    return json.dumps({"initialize": hello, "tools": tools})


def test_twenty_thousand_tools_are_frozen_read_and_compared(keel: Keel) -> None:
    put(keel.root, {"keel.yaml": "version: 1\nservers: {big: {surface: big.json}}\n", "big.json": big(20_000)})
    done = keel("freeze", "-q")
    assert done.out.splitlines()[-1] == "freeze: ok (1 server, 20,000 tools, 0 unchanged)"
    assert (keel.root / "keel.lock").read_text().count('\n"big/find_') == 20_000
    assert keel("freeze", "--check").code == 0
    text = (keel.root / "big.json").read_text()
    put(keel.root, {"big.json": text.replace("Find record 19999 ", "Find and keep record 19999 ")})
    changed = keel.json("drift")
    assert [item["location"]["key"] for item in changed.report["findings"] if item["code"] == "text-changed"] == [
        "big/find_19999"
    ]


def test_one_tool_more_than_the_limit_is_refused(keel: Keel, tmp_path: Path) -> None:
    with serving(["flood"]) as served:
        server, requests = served["flood"]
        done = keel.json("capture", "--url", url_of(server), "-o", str(tmp_path / "out.json"))
    assert (done.code, done.gaps) == (3, ["pagination-loop"])
    assert len(requests) < 12
    assert not (tmp_path / "out.json").exists()
    assert hostile.GOOD
