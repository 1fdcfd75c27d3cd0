"""The formats, by name, in one sorted literal; each is a pure function."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from keel.report import json_, text
from keel.report.interface import Presentation

FORMATS: Mapping[str, Callable[[Presentation], str]] = {
    "json": json_.render,
    "text": text.render,
}
"""Every format that `--format` takes."""
