"""Lints a folder of cases as `score_lint.py --split-siblings` writes them, in one process, for `make lint-eval`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from keel.rules.documents import lint_document


def main(folder: Path) -> None:
    """Print every finding on a case's first tool, flat, with the case that it belongs to."""
    cases = [path for path in sorted(folder.glob("*.json")) if not path.name.endswith(".siblings.json")]
    print(json.dumps([item for path in cases for item in _case(path)]))


def _case(path: Path) -> Iterator[dict[str, Any]]:
    tool, *siblings = _tools(path)
    document = {"tool": tool, "siblings": siblings}
    elsewhere = path.with_name(f"{path.stem}.siblings.json")
    if elsewhere.exists():
        document |= {"siblings": _tools(elsewhere), "siblings_server": "other"}
    findings, gaps = lint_document(document)
    for gap in gaps:
        yield {"case": path.stem, "crash": f"{gap.what}: {gap.why}"}
    for item in findings:
        found = {"rule": item.code, "severity": item.severity.value, "pointer": item.location.pointer}
        yield {"case": path.stem, "tool": 0, **found}


def _tools(path: Path) -> list[Any]:
    tools: list[Any] = json.loads(path.read_text(encoding="utf-8"))["tools"]
    return tools


if __name__ == "__main__":
    main(Path(sys.argv[1]))
