"""The first ten minutes of the documentation, typed as they stand there, with real servers."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.acceptance.harness import Keel
from tests.command_lines import ROOT

PAGE = ROOT / "docs" / "getting-started.md"
STEP = re.compile(r"(?:^`([\w./]+)`( \(added\))?:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def agrees(shown: str, out: str) -> bool:
    """Compare output with what the page shows, where `…` stands for anything."""
    pattern = ".*?".join(re.escape(part) for part in shown.rstrip("\n").split("…"))
    return re.fullmatch(pattern, out.rstrip("\n"), re.DOTALL) is not None


@pytest.mark.real
def test_the_page_is_a_transcript(tmp_path: Path) -> None:
    keel = Keel(tmp_path)
    commands = 0
    for file, added, kind, text in STEP.findall(PAGE.read_text(encoding="utf-8")):
        if file:
            with (tmp_path / file).open("a" if added else "w", encoding="utf-8") as target:
                target.write(text)
        for line, shown in COMMAND.findall(text) if kind == "console" else ():
            words = shlex.split(line)
            if words[0] != "keel":
                continue
            result = keel(*words[1:])
            assert agrees(shown, result.out), f"$ {line}\n{result.out}{result.err}"
            assert result.code == ("error[" in shown)
            commands += 1
    assert commands == 8
