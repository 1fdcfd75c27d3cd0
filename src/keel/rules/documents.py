"""What `keel lint` reads: a listing, a surface file, one tool, or a tool with its surroundings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from keel.core.finding import Finding, InputErrors, Location, NotChecked, finding
from keel.rules.interface import Profile
from keel.rules.run import lint_surface


@dataclass(frozen=True, slots=True)
class LintInput:
    """The tools of one document."""

    tools: tuple[Any, ...]
    """Wire objects to judge, as written."""
    judged: int
    """How many of the first tools to report on; the rest are there to compare with."""
    server: str = ""
    others: tuple[tuple[str, str], ...] = ()
    """(server, tool name) of tools on other servers."""
    instructions: str | None = None
    revision: str = ""
    prefix: str = ""
    """Pointer from the document to the first tool's list, or to the one tool."""
    many: bool = True
    """Whether tools stand in a list, so that a pointer needs an index."""

    def pointer(self, index: int) -> str:
        """Return the pointer of a tool in the document."""
        return f"{self.prefix}/{index}" if self.many else self.prefix


def read_lint_input(value: Any, server: str = "") -> LintInput:
    """Recognise a document given to `keel lint`.

    Args:
        value: parsed JSON: a `tools/list` result, bare or in its JSON-RPC envelope; a surface file; a list of tools;
            one tool; or `{"tool": …, "siblings": […], "siblings_server": …}`.
        server: name of the server, where the caller knows it.

    Raises:
        InputErrors: if the document is none of these.
    """
    if isinstance(value, list):
        return LintInput(tuple(value), len(value), server)
    if not isinstance(value, dict):
        raise InputErrors([_unreadable(f"it is {_kind(value)}")])
    if "tool" in value and "inputSchema" not in value:
        return _with_siblings(value, server)
    result = value.get("result")
    if isinstance(result, dict) and "tools" in result:
        return _listing(result, server, "/result/tools")
    if "tools" in value:
        return _listing(value, server, "/tools")
    if "name" in value or "inputSchema" in value:
        return LintInput((value,), 1, server, many=False)
    raise InputErrors([_unreadable("it has neither `tools`, `tool` nor `inputSchema`")])


def _listing(value: dict[str, Any], server: str, prefix: str) -> LintInput:
    tools = value["tools"]
    if not isinstance(tools, list):
        raise InputErrors([_unreadable(f"`tools` is {_kind(tools)}, not a list", prefix)])
    initialize = value.get("initialize")
    hello: dict[str, Any] = initialize if isinstance(initialize, dict) else {}
    instructions = hello.get("instructions")
    revision = hello.get("protocolVersion")
    return LintInput(
        tuple(tools),
        len(tools),
        server,
        instructions=instructions if isinstance(instructions, str) else None,
        revision=revision if isinstance(revision, str) else "",
        prefix=prefix,
    )


def _with_siblings(value: dict[str, Any], server: str) -> LintInput:
    siblings = value.get("siblings")
    siblings = siblings if isinstance(siblings, list) else []
    place = value.get("siblings_server")
    if not isinstance(place, str) or not place or place == server:
        return LintInput((value["tool"], *siblings), 1, server, prefix="/tool", many=False)
    names = [item.get("name") for item in siblings if isinstance(item, dict)]
    others = tuple(sorted({(place, name) for name in names if isinstance(name, str)}))
    return LintInput((value["tool"],), 1, server, others, prefix="/tool", many=False)


def _unreadable(reason: str, pointer: str = "") -> Finding:
    message = f"the document holds no tools to lint: {reason}"
    hint = "give a `tools/list` result, a surface file, or one tool object"
    return finding("input-error", message, location=Location(pointer=pointer), next=hint)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}.get(type(value), "a number")


def lint_document(
    value: Any, *, server: str = "", targets: tuple[str, ...] = (), profile: Profile = Profile.DEFAULT
) -> tuple[tuple[Finding, ...], tuple[NotChecked, ...]]:
    """Run every rule over a document, quality rules included: what is given to `keel lint` is the author's own.

    Raises:
        InputErrors: if the document holds no tools.
    """
    read = read_lint_input(value, server)
    return lint_surface(
        read.server,
        read.tools,
        others=read.others,
        instructions=read.instructions,
        targets=targets,
        profile=profile,
        revision=read.revision,
        judged=read.judged,
    )
