"""Validation of a document by its grammar, with the validator's complaints put into sentences for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import SchemaValidator, ValidationError
from pydantic_core import core_schema as core

from keel.core.text import did_you_mean, excerpt
from keel.manifest.problems import Document, Path, Problem

Places = Mapping[tuple[str, ...], core.TypedDictSchema]

_NOUNS = {
    "": "the document",
    "servers": "a server",
    "tools": "a grant",
    "volatile": "a mask",
    "suppress": "a suppression",
}
_OTHER_NAMES = {
    "allow": "tools",
    "args": "command",
    "environment": "env",
    "environment_variables": "env",
    "expires": "until",
    "id": "code",
    "idempotent": "idempotency",
    "name": "tool",
    "needs_approval": "approval",
    "permissions": "permission",
    "requires_approval": "approval",
    "risk": "effect",
    "rule": "code",
    "ttl": "until",
    "why": "reason",
}
"""What people write for a key whose spelling is too far away to guess."""

_KINDS = {
    "bool_type": "`true` or `false`",
    "dict_type": "a mapping",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a mapping",
    "string_type": "text",
}


def validate(schema: core.CoreSchema, document: Document, places: Places) -> tuple[Any, tuple[Problem, ...]]:
    """Validate a document.

    Args:
        schema: the grammar of the whole document.
        document: values and positions.
        places: the record at each place, for naming the keys that are known there.

    Returns:
        (the validated value, or None; every problem). A key without a value is a problem of its own, because an
        empty section and an absent one mean opposite things.
    """
    problems = list(_empty_values(document.value))
    silent = {problem.path for problem in problems}
    try:
        return SchemaValidator(schema).validate_python(document.value), tuple(problems)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            problem = _problem(item, places)
            if problem.path not in silent:
                problems.append(problem)
    return None, tuple(problems)


def _empty_values(value: Any) -> Iterator[Problem]:
    stack: list[tuple[Path, Any]] = [((), value)]
    while stack:
        path, item = stack.pop()
        children = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
        for key, child in children:
            here = (*path, key)
            if child is None:
                yield Problem(
                    here,
                    f"{_name(here)} has no value",
                    "give it one, or remove it; `[]` and `{}` are empty",
                    on_key=True,
                )
            stack.append((here, child))


def _name(path: Path) -> str:
    """Return how a message names what stands at a path."""
    if not path:
        return "the document"
    last = path[-1]
    if isinstance(last, int):
        return f"entry {last + 1} of `{path[-2]}`" if len(path) > 1 else f"entry {last + 1}"
    return f"`{excerpt(last, 60)}`"


def _problem(item: Any, places: Places) -> Problem:
    kind, path = item["type"], tuple(part for part in item["loc"] if part != "[key]")
    on_key = item["loc"][-1:] == ("[key]",) or kind == "extra_forbidden"
    if kind == "extra_forbidden":
        message, hint = _unknown_key(path, places)
    elif kind == "missing":
        message, hint = f"`{path[-1]}` is missing", f"add `{path[-1]}`"
        path = path[:-1]
    elif kind == "keel":
        message, hint = item["ctx"]["problem"], item["ctx"]["hint"]
        message = message if on_key or isinstance(path[-1], int) else f"`{path[-1]}`: {message}"
    else:
        message, hint = _other(kind, path, item)
    return Problem(path, message, hint, on_key=on_key)


def _unknown_key(path: Path, places: Places) -> tuple[str, str]:
    key = str(path[-1])
    pattern = next((pattern for pattern in places if _fits(pattern, path[:-1])), None)
    known = list(places[pattern]["fields"]) if pattern is not None else []
    other = _OTHER_NAMES.get(key.casefold())
    guess = f"did you mean `{other}`?" if other in known else did_you_mean(key, known)
    hint = guess or f"known are {', '.join(f'`{name}`' for name in known)}"
    return f"`{excerpt(key, 60)}` is not a key of {_noun(pattern or ())}", hint


def _noun(pattern: tuple[str, ...]) -> str:
    if not pattern:
        return "the document"
    return _NOUNS[pattern[-2]] if pattern[-1] == "*" else f"`{pattern[-1]}`"


def _fits(pattern: tuple[str, ...], path: Path) -> bool:
    return len(pattern) == len(path) and all(want in ("*", part) for want, part in zip(pattern, path, strict=True))


def _other(kind: str, path: Path, item: Any) -> tuple[str, str]:
    name, given, context = _name(path), item["input"], item.get("ctx", {})
    if kind in _KINDS:
        return f"{name} must be {_KINDS[kind]}, not {_shown(given)}", _type_hint(kind, given)
    if kind == "literal_error":
        expected = str(context["expected"]).replace("'", "`")
        known = [part.strip("'") for part in str(context["expected"]).replace(" or ", ", ").split(", ")]
        return f"{name} must be {expected}, not {_shown(given)}", did_you_mean(str(given), known)
    if kind == "too_short":
        return f"{name} is empty", "name at least one, or remove the key"
    return f"{name}: {_lower(item['msg'])}, not {_shown(given)}", ""


def _lower(message: str) -> str:
    return message.replace("Input should", "must")


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return f"the text `{excerpt(value, 60)}`" if isinstance(value, str) else f"`{excerpt(str(value), 60)}`"


def _type_hint(kind: str, given: Any) -> str:
    if kind == "bool_type" and isinstance(given, str):
        truth = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
        word = truth.get(given.casefold(), given.casefold() if given.casefold() in ("true", "false") else "")
        return f"write `{word}`, without quotes" if word else "write `true` or `false`"
    if kind == "list_type" and isinstance(given, str):
        words = ", ".join(f'"{excerpt(word, 40)}"' for word in given.split()[:8])
        return f"write `[{words}]`"
    if kind == "string_type" and isinstance(given, bool | int | float):
        return f'write it in quotes: `"{excerpt(str(given), 60)}"`'
    if kind in ("int_type", "float_type") and isinstance(given, str):
        return "write the number without quotes"
    return ""
