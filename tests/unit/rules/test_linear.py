"""Every expression takes linear time, and a whole run over 100 kB of worst-case text stays short."""

import importlib
import pkgutil
import re
import time

import pytest

import keel.rules
from keel.rules.lazy import Lazy
from keel.rules.run import lint_surface

SIZE = 100_000
WORST = {
    "spaces": " " * SIZE,
    "newlines": "\n" * SIZE,
    "blanks and lines": " \n\t" * (SIZE // 3),
    "letters": "a" * SIZE,
    "words": "read " * (SIZE // 5),
    "digits": "0" * SIZE,
    "binary": "01" * (SIZE // 2),
    "base64": "QUJD" * (SIZE // 4),
    "underscores": "a_" * (SIZE // 2),
    "slashes": "/a" * (SIZE // 2),
    "dots": "a." * (SIZE // 2),
    "brackets": "<a " * (SIZE // 3),
    "tags": "<a>" * (SIZE // 3),
    "comments": "<!--" * (SIZE // 4),
    "square": "[//]: # (" * (SIZE // 9),
    "quotes": "\"'" * (SIZE // 2),
    "backticks": "`a|" * (SIZE // 3),
    "percent": "%4" * (SIZE // 2),
    "entities": "&#1" * (SIZE // 3),
    "escapes": "\\x6" * (SIZE // 4),
    "urls": "https://a/" * (SIZE // 10),
    "one url": "https://" + "a" * SIZE,
    "passwords": "a://b:" * (SIZE // 6),
    "pipes": "curl a | " * (SIZE // 9),
    "negations": "not tell not user " * (SIZE // 18),
    "concepts": "ignore previous send user call tool before every " * (SIZE // 50),
    "single letters": "a b " * (SIZE // 4),
    "cjk": "不要告诉用户" * (SIZE // 6),
    "joiners": "\u200d\U0001f468" * (SIZE // 2),
    "selectors": "a\ufe0f" * (SIZE // 2),
    "tag characters": "\U000e0041" * SIZE,
    "braces": "{" * SIZE,
    "parentheses": "(" * SIZE,
    "repeated groups": "(a+" * (SIZE // 3),
    "hyphens": "a-" * (SIZE // 2),
    "apostrophes": "a'" * (SIZE // 2),
    "dollars": "$(" * (SIZE // 2),
    "hash": "#" * SIZE,
    "rm": "rm -r -a " * (SIZE // 9),
    "wrapped": "a\nb" * (SIZE // 3),
}


def patterns():
    found = {}
    for info in pkgutil.walk_packages(keel.rules.__path__, "keel.rules."):
        module = vars(importlib.import_module(info.name))
        values = [
            *module.items(),
            *((f"{name}.use", item.use) for name, item in module.items() if hasattr(item, "use")),
        ]
        for name, value in values:
            for index, item in enumerate(value if isinstance(value, tuple) else (value,)):
                for part in item if isinstance(item, tuple) else (item,):
                    pattern = getattr(part, "__self__", part) if not isinstance(part, Lazy) else part
                    if isinstance(pattern, re.Pattern | Lazy):
                        found[f"{info.name.removeprefix('keel.rules.')}.{name}.{index}"] = pattern
    return found


def test_all_expressions_are_found():
    assert len(patterns()) > 60


@pytest.mark.parametrize(("name", "pattern"), sorted(patterns().items()))
def test_expression_is_linear(name, pattern):
    for text in WORST.values():
        start = time.process_time()
        for count, _ in enumerate(pattern.finditer(text)):
            if count > SIZE:
                break
        assert time.process_time() - start < 1.0, text[:12]


HEAVY = ("base64", "binary", "blanks and lines", "cjk", "concepts", "letters", "negations", "repeated groups", "urls")


@pytest.mark.parametrize("name", HEAVY)
def test_a_run_over_worst_case_text_is_short(name):
    text = WORST[name]
    tool = {
        "name": "x",
        "description": text,
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"default": text, "pattern": text[:20_000]}, text[:9_000]: {}},
        },
    }
    start = time.process_time()
    _, gaps = lint_surface("s", [tool], others=[("t", "parse_date")])
    assert gaps == ()
    assert time.process_time() - start < 8.0
