"""The formats, by name, in one sorted literal; each is a pure function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from keel.report.interface import Presentation


def _lazily(module: str) -> Callable[[Presentation], str]:
    """Return a format that is loaded when it is used: most runs print text alone."""

    def render(shown: Presentation) -> str:
        found: Callable[[Presentation], str] = import_module(f"keel.report.{module}").render
        return found(shown)

    return render


FORMATS: Mapping[str, Callable[[Presentation], str]] = {
    "github": _lazily("github"),
    "json": _lazily("json_"),
    "junit": _lazily("junit"),
    "markdown": _lazily("markdown"),
    "sarif": _lazily("sarif"),
    "text": _lazily("text"),
}
"""Every format that `--format` takes."""
