"""The formats, by name, in one sorted literal; each is a pure function."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from keel.report import github, json_, junit, markdown, sarif, text
from keel.report.interface import Presentation

FORMATS: Mapping[str, Callable[[Presentation], str]] = {
    "github": github.render,
    "json": json_.render,
    "junit": junit.render,
    "markdown": markdown.render,
    "sarif": sarif.render,
    "text": text.render,
}
"""Every format that `--format` takes."""
