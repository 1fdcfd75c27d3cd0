"""What a function must have to become a tool, and what is refused with its place."""

from __future__ import annotations

import enum
import functools
import inspect
import sys
import textwrap
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, create_model

from keel.core.finding import Finding, InputErrors
from keel.native.derive import derive
from keel.native.generate import Undescribable, json_default
from keel.native.positions import Source, sources


def refused(function: Callable[..., Any], source: Source | None = None) -> list[Finding]:
    with pytest.raises(InputErrors) as caught:
        derive(function, "look", source)
    assert {item.code for item in caught.value.findings} == {"native-tool"}
    assert all(item.next and item.location.key == "look" for item in caught.value.findings)
    return list(caught.value.findings)


def message(function: Callable[..., Any]) -> str:
    (found,) = refused(function)
    return found.message


class Opaque:
    pass


T = typing.TypeVar("T")


def test_a_plain_function() -> None:
    def look(ticket: str, *, limit: Annotated[int, Field(ge=1, description="At most")] = 5) -> dict[str, int]:
        """Find a ticket."""

    assert derive(look, "look") == {
        "name": "look",
        "description": "Find a ticket.",
        "inputSchema": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "ticket": {"type": "string"},
                "limit": {"type": "integer", "minimum": 1, "description": "At most", "default": 5},
            },
            "required": ["ticket"],
        },
        "outputSchema": {"type": "object", "additionalProperties": {"type": "integer"}},
    }


def test_a_function_without_parameters_docstring_or_result() -> None:
    def ping(): ...

    closed = {"type": "object", "properties": {}, "additionalProperties": False}
    assert derive(ping, "ping") == {"name": "ping", "inputSchema": closed}


def test_a_wrapped_function_is_described_by_what_it_wraps() -> None:
    def inner(ticket: str | None = None) -> int:
        """Count."""

    @functools.wraps(inner)
    def outer(*args: Any, **kwargs: Any) -> Any: ...

    assert derive(outer, "look") == derive(inner, "look")


def test_an_async_function_gives_what_it_awaits() -> None:
    async def look() -> list[int]: ...

    assert derive(look, "look")["outputSchema"] == {"type": "array", "items": {"type": "integer"}}


def test_a_parameter_without_type() -> None:
    def look(ticket, other: int): ...

    (found,) = refused(look, Source("flows.py", 7, 1, {"ticket": (8, 5)}))
    assert found.message == "parameter `ticket` of native tool `look` has no type"
    assert (found.location.file, found.location.line, found.location.column) == ("flows.py", 8, 5)
    assert "`ticket: str`" in found.next


def test_a_method_says_that_it_is_one() -> None:
    class Desk:
        def look(self, ticket: str): ...

    assert message(Desk.look) == "parameter `self` of native tool `look` has no type: the tool is a method"


def test_parameters_that_no_object_of_arguments_can_fill() -> None:
    def look(first: int, /, *rest: int, **more: int): ...

    assert [item.message.partition("`look` ")[2] for item in refused(look)] == [
        "is positional-only, and arguments of a tool are passed by name",
        "takes any number of arguments",
        "takes any number of arguments",
    ]


@pytest.mark.parametrize("hint", [Any, object, T, Any | None, Annotated[Any, Field(description="all")]])
def test_a_type_that_accepts_anything_is_refused(hint: Any) -> None:
    def look(ticket): ...

    look.__annotations__["ticket"] = hint
    assert message(look).endswith("`look` accepts anything: its type is as open as `Any`")


@pytest.mark.parametrize(
    ("hint", "reason"),
    [
        (Opaque, "Unable to generate pydantic-core schema for"),
        (typing.Callable[[int], int], "Cannot generate a JsonSchema"),
        ("Decimal", "the name `Decimal` in its type is not known when the module runs"),
        ("1 +", "its type cannot be evaluated"),
        (Annotated[int, Field(default=3)], "its `Field` has a default"),
        (Annotated[int, Field(default_factory=int)], "its `Field` has a default"),
        (Annotated[int, Field(alias="x")], "its `Field` has an alias"),
    ],
)
def test_a_type_that_cannot_be_described_is_refused(hint: Any, reason: str) -> None:
    def look(ticket): ...

    look.__annotations__["ticket"] = hint
    assert reason in message(look)


class Half(typing.TypedDict):
    a: int


class Configured(typing.TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]
    half: Half


def test_typed_dicts_of_the_standard_library_are_read_on_every_python() -> None:
    def look(a: Half | None, b: Configured, c: Annotated[Half, Field(description="it")]) -> tuple[Half, ...]: ...

    half = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    wire = derive(look, "look")
    assert wire["inputSchema"]["properties"] == {
        "a": {"anyOf": [half, {"type": "null"}]},
        "b": {"type": "object", "additionalProperties": False, "properties": {"half": half}, "required": ["half"]},
        "c": {**half, "description": "it"},
    }
    assert wire["outputSchema"] == {"type": "array", "items": half}


def test_a_branch_of_a_union_is_never_dropped_silently() -> None:
    def look(a: int | typing.Callable[[], int]): ...

    assert "parameter `a` of native tool `look` has no schema: " in message(look)


def test_a_default_deep_inside_that_is_no_json_is_refused_without_an_address() -> None:
    class Item(BaseModel):
        x: Any = Opaque()

    def look(item): ...

    look.__annotations__["item"] = Item
    assert "is not JSON serializable" in message(look)
    assert "0x" not in message(look)


class Unset(enum.Enum):
    UNSET = object()


@pytest.mark.parametrize("default", [Opaque(), object, len, float("inf"), float("nan"), "\ud800", {1: Opaque()}])
def test_a_default_that_is_no_json_is_refused(default: Any) -> None:
    def look(ticket: str = default): ...

    assert "`look` has a default that is no JSON: " in message(look)


def test_a_field_as_default_is_refused() -> None:
    def look(ticket: str = Field("x", description="…")): ...

    (found,) = refused(look)
    assert "has a `Field` as its default" in found.message
    assert "`ticket: Annotated[" in found.next


def test_a_result_without_schema_is_refused() -> None:
    def look() -> Opaque: ...

    assert "native tool `look` cannot be described: its result has no schema" in message(look)


def test_everything_is_reported_at_once() -> None:
    def look(a, b: Any, c: Opaque, *d: int, e: int = float("nan")) -> Opaque: ...

    assert len(refused(look)) == 6 - 1  # `b` is only judged once pydantic describes the rest
    assert {item.message.split("`")[1] for item in refused(look)} == {"a", "c", "d", "e", "look"}


def test_many_types_that_are_too_large_together_are_reported_for_the_tool() -> None:
    level: Any = int
    for depth in range(7):
        level = create_model(f"Level{depth}", **dict.fromkeys("abcd", level))

    def look(a, b, c, d, e, f, g, h): ...

    look.__annotations__.update(dict.fromkeys("abcdefgh", level))
    assert message(look) == ("native tool `look` cannot be described: its schema has more than 50,000 nodes")


def test_a_model_of_the_function_is_described() -> None:
    class Item(BaseModel):
        x: int

    def look(item): ...

    look.__annotations__["item"] = Item
    assert derive(look, "look")["inputSchema"]["properties"]["item"]["properties"] == {"x": {"type": "integer"}}


def test_a_lone_surrogate_in_the_docstring_is_refused() -> None:
    def look(): ...

    look.__doc__ = "half \ud800"
    assert "U+D800" in message(look)


def test_a_schema_that_explodes_is_refused() -> None:
    level: Any = int
    for depth in range(9):
        level = create_model(f"Level{depth}", **dict.fromkeys("abcd", level))

    def look(deep): ...

    look.__annotations__["deep"] = level
    assert "more than 50,000 nodes" in message(look)


def test_the_rules_of_names_are_pythons_not_those_of_models() -> None:
    def look(model_config: int, schema: int, json: int, _x: int, self_: int, copy: int = 1): ...

    assert list(derive(look, "look")["inputSchema"]["properties"]) == [
        "model_config", "schema", "json", "_x", "self_", "copy",
    ]  # fmt: skip


def test_text_is_not_evaluated_into_findings_raw() -> None:
    def look(ticket: str): ...

    look.__annotations__["ticket"] = "\x1b[31m"
    assert "\x1b" not in message(look)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)))  # fmt: skip
def test_a_json_default_is_itself(value: Any) -> None:
    assert json_default(value) == value


@given(st.frozensets(st.text(st.characters(exclude_categories=["Cs"]))))
def test_a_set_has_one_order(value: frozenset[str]) -> None:
    assert json_default(value) == json_default(frozenset(reversed(list(value))))


def test_a_default_that_no_type_knows() -> None:
    with pytest.raises(Undescribable):
        json_default(Unset.UNSET)


def test_positions_are_counted_in_characters(tmp_path: Path) -> None:
    text = textwrap.dedent("""
        def plain(x: int): ...

        @decorated(
            1)
        async def look(ä: str, y: int = 1, *rest,
                       z: int, **more): ...
    """)
    found = sources(text, "flows.py")
    assert found["plain", 2] == Source("flows.py", 2, 1, {"x": (2, 11)})
    expected = {"ä": (6, 16), "y": (6, 24), "rest": (6, 37), "z": (7, 16), "more": (7, 26)}
    assert found["look", 4] == Source("flows.py", 6, 1, expected)
    path = tmp_path / "m.py"
    path.write_text("def decorated(n): return lambda f: f\n" + text, encoding="utf-8")
    scope: dict[str, Any] = {}
    exec(compile(path.read_text("utf-8"), str(path), "exec"), scope)
    assert ("look", scope["look"].__code__.co_firstlineno) in sources(path.read_text("utf-8"), "m.py")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 syntax")
def test_type_parameters_are_known() -> None:
    scope: dict[str, Any] = {}
    exec("from __future__ import annotations\ndef look[T: int](x: T, y: list[T]) -> T: ...", scope)
    assert derive(scope["look"], "look")["inputSchema"]["properties"]["y"]["items"] == {"type": "integer"}


def test_a_typed_dict_that_holds_itself_is_described_or_refused_never_a_crash() -> None:
    class Tree(typing.TypedDict):
        kids: list[Tree]

    def look(tree): ...

    look.__annotations__["tree"] = Tree
    globals()["Tree"] = Tree
    try:
        if sys.version_info < (3, 12):
            assert "typing_extensions.TypedDict" in message(look)
        else:
            assert derive(look, "look")["inputSchema"]["properties"]["tree"] == {"$ref": "#/$defs/Tree"}
    finally:
        del globals()["Tree"]


def test_a_signature_that_cannot_be_read_is_a_finding() -> None:
    def look(): ...

    look.__signature__ = 5  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        inspect.signature(look)
    assert "its annotations cannot be evaluated" in message(look)
