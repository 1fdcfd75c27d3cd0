"""Renews the generated parts of hand-written pages: tables of manifest keys and of codes, between two marks.

A part begins with `<!-- generated: keys manifest servers.* -->` or `<!-- generated: codes approval race -->`, and ends
with `<!-- end -->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from keel.core.codes import CODES
from keel.manifest.jsonschema import config_schema, manifest_schema

DOCS = Path(__file__).parents[1] / "docs"
_REGION = re.compile(r"(<!-- generated: (\w+) ([^>]*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def renewed(text: str) -> str:
    """Return a page with its generated parts as the code has them now."""
    return _REGION.sub(lambda match: f"{match[1]}\n{_table(match[2], match[3].split())}\n{match[5]}", text)


def main() -> None:
    """Renew every page."""
    for page in sorted(DOCS.glob("*.md")):
        before = page.read_text(encoding="utf-8")
        after = renewed(before)
        if after != before:
            page.write_text(after, encoding="utf-8")


def _table(kind: str, words: list[str]) -> str:
    if kind == "keys":
        return "".join(["| key | value | meaning |\n", "|---|---|---|\n", *_keys(*words)])
    return "".join(["| code | severity | found when |\n", "|---|---|---|\n", *_codes(words)])


def _codes(gates: list[str]) -> Iterator[str]:
    for info in CODES.values():
        if info.gate.value in gates:
            yield f"| `{info.code}` | {info.severity.value} | {info.summary} |\n"


def _keys(document: str, place: str = "") -> Iterator[str]:
    schema = manifest_schema() if document == "manifest" else config_schema()
    for part in place.split(".") if place else ():
        schema = _below(schema, part)
    required = schema.get("required", ())
    for name, about in schema["properties"].items():
        default = f" Default: `{_shown(about['default'])}`." if "default" in about else ""
        needed = " Required." if name in required else ""
        yield f"| `{name}` | {_kind(about)} | {about['description']}{default}{needed} |\n"


def _below(schema: dict[str, Any], part: str) -> dict[str, Any]:
    inner: dict[str, Any] = schema["properties"][part] if part != "*" else schema.get("additionalProperties") or {}
    if part == "*" and "items" in schema:
        inner = schema["items"]
    return next((each for each in inner.get("anyOf", ()) if each.get("type") == "object"), inner)


def _kind(about: dict[str, Any]) -> str:
    if "enum" in about:
        return ", ".join(f"`{item}`" for item in about["enum"])
    if "const" in about:
        return f"`{about['const']}`"
    kinds = [_kind(each) for each in about.get("anyOf", ())]
    if kinds:
        return " or ".join(dict.fromkeys(kinds))
    kind = about.get("type")
    if kind == "array":
        inner = about.get("items", {})
        return f"list of {_kind(inner)}"
    names = {"boolean": "`true`, `false`", "integer": "whole number", "number": "number", "object": "mapping"}
    return names.get(str(kind), "date" if about.get("format") == "date" else "text")


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    main()
