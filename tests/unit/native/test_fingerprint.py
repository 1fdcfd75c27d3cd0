"""The source fingerprint: what changes it, what does not, and that it ends."""

from __future__ import annotations

import ast
import textwrap
import warnings
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.native.fingerprint import Definition, Fingerprint, Fingerprints, fingerprint
from keel.native.stable import dotted_names, dump


@dataclass
class Project:
    """A small static reader: module-level statements, and imports between the given modules."""

    sources: dict[str, str]

    def find(self, module: str, name: str) -> Definition | None:
        first, _, rest = name.partition(".")
        for node in reversed(ast.parse(textwrap.dedent(self.sources[module])).body):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if (alias.asname or alias.name.partition(".")[0]) == first:
                        inside = self.find(alias.name, rest) if rest and alias.name in self.sources else None
                        return inside or (None if alias.name in self.sources else Definition(module, first, node))
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == first and not rest:
                        if node.module in self.sources:
                            return self.find(node.module, alias.name)
                        return Definition(module, first, node)
            elif not rest and first in bound(node):
                return Definition(module, first, node)
        return None


def bound(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return {node.name}
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}


FLOWS = '''
from keel import tool
from typing import Annotated, Literal
from models import Ticket as T, helper
import models

LIMIT = 5
Kind = Literal["a", "b"]

@tool(effect="read", idempotent=True)
def look(ticket: T, kind: Kind = "a", limit: int = LIMIT, *, color: "models.Color" = models.Color.RED) -> list[T]:
    """Find one."""
    return helper(ticket)

def unrelated(): ...
'''
MODELS = '''
import enum
from pydantic import BaseModel, Field

BOUND = 10

class Color(enum.Enum):
    RED = "red"

class Ticket(BaseModel):
    """A ticket."""
    number: int = Field(le=BOUND)
    parent: "Ticket | None" = None

    def save(self):
        store(self)

def store(ticket): ...

def helper(ticket): ...
'''


def of(flows: str = FLOWS, models: str = MODELS, name: str = "look") -> Fingerprint:
    return fingerprint("flows", name, Project({"flows": flows, "models": models}))


BASE = of()


def test_the_digests_are_these_on_every_python() -> None:
    # Recorded under Python 3.11, 3.12 and 3.13; a difference would make every lock stale after an upgrade of Python.
    assert (
        Fingerprint(
            interface="k1:6ca0f694b4cbe3f2d374e38af8655a327f165a2671fee7c6b84d2d74165f7898",
            body="k1:5489c0cf502a7b1429f4b860c536a06262207b1ee7b465105d2fc49a91799a91",
        )
        == BASE
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('effect="read"', 'effect="write"'),
        ("idempotent=True", "idempotent=False"),
        ("def look", "def find"),
        ("kind: Kind", "sort: Kind"),
        ("limit: int", "limit: float"),
        ("LIMIT = 5", "LIMIT = 6"),
        ('Literal["a", "b"]', 'Literal["a", "b", "c"]'),
        ("*, color", "color"),
        ('"a", limit', '"b", limit'),
        ("list[T]", "set[T]"),
        ('"""Find one."""', '"""Find two."""'),
        ("from typing import", "from typing_extensions import"),
        ("from keel import tool", "from other import tool"),
        ("import Ticket as T, helper", "import Color as T, helper"),
        ("@tool(", "@extra\n@tool("),
    ],
)
def test_what_the_definition_can_depend_on_changes_the_interface(old: str, new: str) -> None:
    assert FLOWS.count(old) == 1
    changed = of(FLOWS.replace(old, new), name="find" if "find" in new else "look")
    assert changed.interface != BASE.interface
    assert changed.body == BASE.body


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("BOUND = 10", "BOUND = 11"),
        ('RED = "red"', 'RED = "rouge"'),
        ('"""A ticket."""', '"""The ticket."""'),
        ("number: int", "number: float"),
        ("number: int", "no: int"),
        ("Ticket(BaseModel)", "Ticket(BaseModel, extra='forbid')"),
        ('"Ticket | None" = None', '"Ticket | None" = ...'),
        ("from pydantic import", "from pydantic.v1 import"),
        ("    def save(self):", "    @computed_field\n    def save(self):"),
        ("    def save(self):", "    def __get_pydantic_core_schema__(self):"),
    ],
)
def test_what_lies_behind_it_in_other_modules_changes_the_interface(old: str, new: str) -> None:
    assert MODELS.count(old) == 1
    changed = of(models=MODELS.replace(old, new))
    assert changed.interface != BASE.interface
    assert changed.body == BASE.body


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def unrelated(): ...", "def unrelated(): return 1"),
        ('"""Find one."""', '"""Find one.\n    """'),
        ('"""Find one."""', '"Find one."'),
        ("limit: int = LIMIT", "limit:int=(  # the limit\n    LIMIT)"),
        ('@tool(effect="read", idempotent=True)', "@tool(\n    effect='read',\n    idempotent=True,\n)"),
        ("LIMIT = 5", "LIMIT = 0x5  # five"),
        ("@tool", "\n\n# comment\n@tool"),
    ],
)
def test_formatting_and_other_code_change_nothing(old: str, new: str) -> None:
    assert FLOWS.count(old) == 1
    assert of(FLOWS.replace(old, new)) == BASE


def test_code_that_no_schema_depends_on_changes_nothing() -> None:
    assert of(models=MODELS.replace("def store(ticket): ...", "def store(ticket): return 1")) == BASE
    assert of(models=MODELS.replace("store(self)", "store(self, 2)")) == BASE


@pytest.mark.parametrize(
    ("old", "new"), [("return helper(ticket)", "return [ticket]"), ("\ndef look", "\nasync def look")]
)
def test_the_body_has_a_digest_of_its_own(old: str, new: str) -> None:
    changed = of(FLOWS.replace(old, new))
    assert changed.interface == BASE.interface
    assert changed.body != BASE.body


def test_two_names_that_swap_their_meaning_change_the_interface() -> None:
    models = "A = int\n"
    other = "A = str\n"
    text = "from one import A\nfrom two import A as B\ndef look(a: A, b: B): ...\n"
    swapped = "from two import A\nfrom one import A as B\ndef look(a: A, b: B): ...\n"
    first, second = (
        fingerprint("flows", "look", Project({"flows": item, "one": models, "two": other})) for item in (text, swapped)
    )
    assert first.interface != second.interface


def test_a_default_that_calls_a_function_depends_on_its_body() -> None:
    text = "def make(): return inner()\ndef inner(): return 1\ndef look(a: int = make()): ...\n"
    assert of(text).interface != of(text.replace("return 1", "return 2")).interface


def test_a_name_bound_in_a_branch_is_covered_as_a_whole() -> None:
    text = "import sys\nif sys.platform == 'x':\n    K = int\nelse:\n    K = str\ndef look(a: K): ...\n"
    assert of(text).interface != of(text.replace("K = str", "K = bytes")).interface


def test_a_public_method_that_the_class_body_uses_counts() -> None:
    text = "class M:\n    def pick(): return 1\n    x = pick()\ndef look(a: M): ...\n"
    assert of(text).interface != of(text.replace("return 1", "return 2")).interface


def test_every_method_counts_where_a_metaclass_may_read_it() -> None:
    text = "class M(metaclass=Meta):\n    def pick(self): return 1\ndef look(a: M): ...\n"
    assert of(text).interface != of(text.replace("return 1", "return 2")).interface


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("import a.b", "import a.c"),
        ("from . import a", "from .. import a"),
        ("from x import y as a", "from x import z as a"),
        ("from x import *", "from y import *"),
    ],
)
def test_what_an_import_from_outside_means_counts(one: str, other: str) -> None:
    class Reader(Project):
        def find(self, module: str, name: str) -> Definition | None:
            tree = ast.parse(self.sources["flows"]).body
            return {"a": Definition(module, "a", tree[0]), "look": Definition(module, "look", tree[1])}.get(name)

    first, second = (
        fingerprint("flows", "look", Reader({"flows": f"{item}\ndef look(b: a): ..."})) for item in (one, other)
    )
    assert first.interface != second.interface


def test_cycles_end() -> None:
    text = "class A:\n    b: 'B'\nclass B:\n    a: 'A'\n    c: int\ndef look(a: A): ...\n"
    assert of(text).interface != of(text.replace("c: int", "c: str")).interface


def test_a_function_in_a_class_is_found() -> None:
    text = "class Desk:\n    class Inner:\n        @staticmethod\n        def look(a: int): return 1\n"
    assert (
        of(text, name="Desk.Inner.look").body != of(text.replace("return 1", "return 2"), name="Desk.Inner.look").body
    )


def test_a_function_in_a_branch_is_found() -> None:
    text = "if True:\n    def look(a: int): ...\n"

    class Reader(Project):
        def find(self, module: str, name: str) -> Definition | None:
            return Definition(module, name, ast.parse(text).body[0]) if name == "look" else None

    assert fingerprint("flows", "look", Reader({})).interface.startswith("k1:")


@pytest.mark.parametrize("name", ["missing", "LIMIT", "look.inner"])
def test_what_is_no_function_is_a_lookup_error(name: str) -> None:
    with pytest.raises(LookupError, match=name):
        of(name=name)


def test_a_deep_expression_is_no_limit() -> None:
    text = f"K = {' + '.join(['1'] * 900)}\ndef look(a: int = K): ...\n"
    assert of(text).interface != of(text.replace("1 + 1", "1 + 2", 1)).interface


class TestStable:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("f'a{x}b'", "f'a' f'{x}' 'b'"),
            ("f'{x!r:>{w}}'", 'f"{x!r:>{w}}"'),
            ("'a' 'b'", "'ab'"),
            ("(1, 2)", "1, 2"),
            ("0xff", "255"),
            ("u'a'", "'a'"),
        ],
    )
    def test_spellings_of_one_meaning_have_one_text(self, one: str, other: str) -> None:
        assert dump(ast.parse(one)) == dump(ast.parse(other))

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("1", "1.0"), ("1", "True"), ("'a'", "b'a'"), ("f'{x}'", "f'{x!s}'"), ("f'{x}'", "f'{x:d}'"), ("x", "'x'"),
            ("[a]", "(a,)"), ("a.b", "a[b]"), ("f(*a)", "f(a)"), ("f(**a)", "f(a=a)"), ("{**a}", "{a: a}"),
            ("a < b < c", "(a < b) < c"), ("lambda a, /: 1", "lambda a: 1"), ("lambda *, a: 1", "lambda a: 1"),
            ("lambda a=1: 1", "lambda *, a=1: 1"), ("x: int", "x = int"), ("del x", "x"), ("...", "None"),
        ],
    )  # fmt: skip
    def test_different_meanings_have_different_texts(self, one: str, other: str) -> None:
        assert dump(ast.parse(one)) != dump(ast.parse(other))

    def test_the_pieces_of_a_text_are_joined(self) -> None:
        pieces = [ast.Constant("a"), ast.Constant(""), ast.Constant("b"), ast.FormattedValue(ast.Name("x"), -1)]
        joined = [ast.Constant("ab"), ast.FormattedValue(ast.Name("x"), -1)]
        assert dump(ast.JoinedStr(pieces)) == dump(ast.JoinedStr(joined))  # type: ignore[arg-type]

    def test_a_number_of_any_length_has_a_text(self) -> None:
        assert "0x" + "f" * 9000 in dump(ast.parse("0x" + "f" * 9000))

    @given(st.text(), st.text())
    def test_texts_of_constants_are_told_apart(self, one: str, other: str) -> None:
        same = dump(ast.Constant(one)) == dump(ast.Constant(other))
        assert same == (one == other)

    @given(st.text())
    def test_no_text_makes_the_reader_fail_or_warn(self, text: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            list(dotted_names(ast.Constant(text)))

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("a.b.c", {"a.b.c"}),
            ("list['Ticket']", {"list", "Ticket"}),
            ("'m.Ticket | None'", {"m.Ticket"}),
            ("typing.Literal['Ticket', K]", {"typing.Literal", "K"}),
            ("'Literal[\"Ticket\"]'", {"Literal"}),
            ("'1or 2'", set()),
            ("f(x).y", {"f", "x"}),
            ("'find one ticket'", set()),
        ],
    )
    def test_names(self, text: str, names: set[str]) -> None:
        assert set(dotted_names(ast.parse(text, mode="eval").body)) == names


def test_many_tools_share_what_was_read() -> None:
    asked: list[str] = []

    class Counting(Project):
        def find(self, module: str, name: str) -> Definition | None:
            asked.append(name)
            return super().find(module, name)

    many = Fingerprints(Counting({"flows": FLOWS, "models": MODELS}))
    assert many.of("flows", "look") == BASE
    before = asked.count("BOUND")
    assert many.of("flows", "look") == BASE
    assert asked.count("BOUND") == before
