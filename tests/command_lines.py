"""Finds the `keel …` command lines that documents show, and parses them as the program would, running nothing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from typer.main import get_command

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))

_FENCE = re.compile(r"^( *)(`{3,})(\w*)[^\n]*\n(.*?)^\1\2`*\s*$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`(keel(?: [^`\n]+)?)`(?!`)")
_SHELL = frozenset({"console", "bash", "sh", "shell", "yaml"})
_END = re.compile(r"(?:\s#|\s\|\|?\s|\s&&|;|\s>>?\s|\s<\s|\$\?)")


def in_page(text: str) -> Iterator[str]:
    """Yield the command lines of a Markdown page: of its console, shell and YAML blocks, and of its code spans."""
    for match in _FENCE.finditer(text):
        if match[3] in _SHELL:
            yield from in_shell(match[4], prompt=match[3] == "console")
    yield from (match[1] for match in _SPAN.finditer(_FENCE.sub("", text)))


def in_shell(text: str, *, prompt: bool = False) -> Iterator[str]:
    """Yield the command lines of a script, or of a transcript in which they follow `$ `."""
    for line in text.replace("\\\n", " ").splitlines():
        if prompt and not line.lstrip().startswith("$ "):
            continue
        bare = re.sub(r"(?:^|\s)#.*", "", line)
        yield from (match[1] for match in re.finditer(r"(?:^|[\s;&])(keel (?!:).*)", bare))


def parse(line: str) -> None:
    """Parse a command line; a word in capitals stands for any command.

    Raises:
        Exception: Typer's own, which says which command or option does not exist.
    """
    line = _END.split(line)[0]
    words = [word for word in shlex.split(line.replace("…", "").replace("...HEAD", "HEAD"))[1:] if word]
    application = _application()
    if words and words[0].isupper():
        return
    with application.make_context("keel", words[:1] or ["--help"], resilient_parsing=True) as context:
        if not words or words[0].startswith("-"):
            _options(application, words)
            return
        name, command, rest = application.resolve_command(context, words)
        assert command is not None, f"No such command {words[0]}"
        while hasattr(command, "resolve_command") and rest and not rest[0].startswith("-"):
            with command.make_context(name, rest[:1], parent=context, resilient_parsing=True) as inner:
                name, command, rest = command.resolve_command(inner, rest)
            assert command is not None, f"No such command {words[1]}"
            words = words[1:]
        # Places to fill in, such as SERVER, are words like any other.
        command.make_context(name, list(rest), parent=context, resilient_parsing=True)
        _options(command, rest)


def _options(command: Any, words: list[str]) -> None:
    """Resilient parsing passes over what it does not know, so that options are looked up one by one."""
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    known |= {"-h", "--help"}
    for word in words:
        if word == "--":
            return
        if word.startswith("--") or re.fullmatch(r"-[A-Za-z]", word):
            assert word.partition("=")[0] in known, f"{command.name}: no option {word}"


@cache
def _application() -> Any:
    from keel.cli.main import build

    return get_command(build())
