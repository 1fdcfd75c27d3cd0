"""Golden files: text that changes only by `make golden`, so that a review sees every changed word."""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).parent


def matches(name: Path, text: str) -> None:
    """Compare text with a golden file, or rewrite the file under `KEEL_GOLDEN=write`."""
    path = HERE / name
    if os.environ.get("KEEL_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{path.name} is missing: run `make golden` and review it"
    assert text == path.read_text(encoding="utf-8")
