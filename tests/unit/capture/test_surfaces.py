"""Surface files are captured as servers are, without the machinery that servers need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from keel.capture.interface import Captured, Failure, Launch
from keel.capture.run import capture_all
from keel.core.model import Transport, VolatileMask

TOOL = '{"tools": [{"name": "t", "description": "in Europe/Berlin", "inputSchema": {"type": "object"}}]}'


def launch(path: Path, *masks: VolatileMask) -> Launch:
    return Launch(path.stem, Transport.SURFACE, surface=path, volatile=masks)


def test_good_and_bad_files_each_have_their_outcome(tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text(TOOL)
    (tmp_path / "bad.json").write_text("[")
    heard: list[tuple[str, str]] = []
    names = ("missing", "good", "bad")
    found = capture_all(
        [launch(tmp_path / f"{name}.json") for name in names], progress=lambda *event: heard.append(event)
    )
    assert list(found) == list(names)
    assert isinstance(found["good"], Captured)
    missing, bad = found["missing"], found["bad"]
    assert isinstance(missing, Failure)
    assert isinstance(bad, Failure)
    assert (missing.gap.code, bad.gap.code) == ("unreachable", "server-failed")
    assert [item.code for item in bad.findings] == ["input-error"]
    assert heard == [("missing", "failed"), ("good", "done"), ("bad", "failed")]


def test_a_mask_that_is_too_wide_is_remarked(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(TOOL)
    found = capture_all([launch(tmp_path / "s.json", VolatileMask("t", "/description", "in .*"))])["s"]
    assert isinstance(found, Captured)
    assert [item.code for item in found.findings] == ["volatile-too-wide"]


def test_they_load_no_protocol(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(TOOL)
    program = (
        "import sys; from pathlib import Path; from keel.capture.run import capture_all\n"
        "from keel.core.launch import Launch; from keel.core.model import Transport\n"
        "capture_all([Launch('s', Transport.SURFACE, surface=Path(sys.argv[1]))])\n"
        "print(sorted({'anyio', 'asyncio', 'httpx2', 'mcp', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "s.json")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
