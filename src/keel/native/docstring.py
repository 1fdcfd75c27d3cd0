"""Docstrings in one spelling: from 3.13 on the compiler strips what earlier versions leave to the reader."""

from __future__ import annotations

import inspect


def clean(text: str | None) -> str:
    """Return a docstring without indentation, outer blank lines and trailing blanks; empty for None."""
    return trimmed(inspect.cleandoc(text or "")).strip()


def trimmed(text: str) -> str:
    """Return text without blanks at the end of each line and of the whole."""
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip()
