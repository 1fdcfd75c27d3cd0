"""The wire form, determinism, shrinking, references and the smaller parts."""

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from keel.compat import jsonl
from keel.compat.dialect import DRAFT_2020_12, dialect_of
from keel.compat.distinct import MAX_POSITIONS, choose
from keel.compat.document import Document, UnresolvedReference, spell
from keel.compat.emptiness import Solver
from keel.compat.interface import Relation
from keel.compat.membership import Budget, OutOfSteps, holds
from keel.compat.nodes import FALSE, TRUE, Arena, Kind, Least, Most, Opaque, Step, Values
from keel.compat.numbers import solve
from keel.compat.outcome import Status
from keel.compat.relation import relate
from keel.compat.sampling import samples
from keel.compat.shrink import shrink
from keel.compat.validator import Judge
from keel.compat.values import exact, extent, key, number
from keel.compat.weight import Scale

PAIRS = [
    ({"type": "object", "properties": {"a": {"enum": ["x", "y"]}, "b": {}}}, {"type": "object", "properties": {"a": {"enum": ["z"]}}, "required": ["b"]}),
    ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#"}}]}, {"type": ["string", "array"], "minItems": 2}),
    ({"type": "string", "pattern": "(a)\\1"}, {"type": "string", "pattern": "^a"}),
]  # fmt: skip


def test_a_line_is_answered_with_its_id():
    answer = jsonl.answer({"id": "7", "old": {"type": "integer"}, "new": {"type": "number"}})
    assert answer == {
        "id": "7",
        "relation": "widened",
        "input": "compatible",
        "output": "breaking",
        "witness_old_not_new": None,
        "witness_new_not_old": 0.5,
        "pointer": "/type",
        "reason": "`0.5` is valid under the new schema and refused by the old one at `/type`",
    }
    assert jsonl.classify({"type": "integer"}, {"type": "number"}) == {k: v for k, v in answer.items() if k != "id"}


@pytest.mark.parametrize(("line", "identity"), [(7, None), ({"id": 3, "old": {}}, 3), ([], None)])
def test_a_line_of_another_form_is_an_error(line, identity):
    assert jsonl.answer(line)["id"] == identity
    assert "old" in jsonl.answer(line)["error"]


def test_verdicts_do_not_depend_on_the_hash_seed():
    program = (
        "import json, sys; from keel.compat.jsonl import classify; print([classify(*p) for p in json.load(sys.stdin)])"
    )
    source = str(Path(jsonl.__file__).parents[2])
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps(PAIRS), capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": source},
        ).stdout
        for seed in ("0", "1", "2")
    }  # fmt: skip
    assert len(found) == 1


def test_starting_up_does_not_load_the_validator():
    program = "import sys, keel.compat.relation, keel.compat.jsonl; print('jsonschema_rs' in sys.modules, 'jsonschema' in sys.modules)"
    source = str(Path(jsonl.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("pair", PAIRS)
def test_the_samples_are_the_same_every_time(pair):
    assert list(samples(*pair, [{"a": 1}, [1, 2]])) == list(samples(*pair, [{"a": 1}, [1, 2]]))


def test_an_unknown_pattern_is_searched_for_a_witness():
    verdict = relate({"type": "string", "minLength": 1}, {"type": "string", "pattern": "(a)\\1"})
    assert verdict.input == "breaking"
    verdict = relate({"enum": ["aa", "b"]}, {"type": "string", "pattern": "(a)\\1"})
    assert verdict.witness_old_not_new is not None
    assert verdict.witness_old_not_new.value == "b"


@pytest.mark.parametrize(
    ("value", "keeps", "smallest"),
    [
        ({"a": [1, 2, {"b": "xyz"}], "c": None}, lambda v: "a" in v and len(v["a"]) > 0, {"a": [{}]}),
        ("abcdefg", lambda v: len(v) >= 3, "abc"),
        (1000, lambda v: v > 0, 1),
        (-1000, lambda v: v < 0, -1),
        (7.5, lambda v: v > 1, 7),
        ([True, None], lambda v: True in v, [True]),
    ],
)  # fmt: skip
def test_shrinking(value, keeps, smallest):
    assert shrink(value, keeps) == smallest


def test_shrinking_stops():
    assert len(shrink(list(range(2, 400)), lambda value: len(value) > 10)) > 10


DOCUMENT = {
    "$id": "https://x.y/root.json",
    "$defs": {
        "a/b~": {"$anchor": "here"},
        "inner": {"$id": "inner.json", "$defs": {"deep": {"type": "null"}}, "properties": {"p": {}}},
        "named": {"$id": "#odd"},
    },
    "allOf": [{"type": "string"}],
}


@pytest.mark.parametrize(
    ("reference", "at", "target"),
    [
        ("#", (), ()),
        ("#/$defs/a~1b~0", (), ("$defs", "a/b~")),
        ("#/$defs/a%7E1b~0", (), ("$defs", "a/b~")),
        ("#here", (), ("$defs", "a/b~")),
        ("root.json#here", (), ("$defs", "a/b~")),
        ("https://x.y/inner.json#/$defs/deep", (), ("$defs", "inner", "$defs", "deep")),
        ("#/$defs/deep", ("$defs", "inner", "properties", "p"), ("$defs", "inner", "$defs", "deep")),
        ("#", ("$defs", "inner", "properties", "p"), ("$defs", "inner")),
        ("#/allOf/0", (), ("allOf", "0")),
    ],
)  # fmt: skip
def test_references_resolve_inside_the_document(reference, at, target):
    assert Document(DOCUMENT, DRAFT_2020_12).resolve(reference, at) == target


@pytest.mark.parametrize(
    "reference", ["#/nowhere", "#nowhere", "other.json", "https://elsewhere.example/", "#/allOf/1", "#/allOf/x"]
)
def test_other_references_do_not_resolve(reference):
    with pytest.raises(UnresolvedReference):
        Document(DOCUMENT, DRAFT_2020_12).resolve(reference, ())


def test_pointers_are_spelled_by_rfc_6901():
    assert spell(()) == ""
    assert spell(("a/b", "m~n", "")) == "/a~1b/m~0n/"


def test_dialects():
    assert dialect_of({}) is dialect_of(True) is DRAFT_2020_12
    named = [dialect_of({"$schema": f"http://json-schema.org/draft-0{n}/schema"}) for n in (4, 6, 7)]
    assert [dialect and dialect.year for dialect in named] == [4, 6, 7]
    assert dialect_of({"$schema": "http://json-schema.org/draft-03/schema#"}) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, Fraction(1)), (0.1, Fraction(1, 10)), (True, None), ("1", None), (float("nan"), None), (10**4000, None)],
)
def test_numbers_are_exact_decimals(value, expected):
    assert exact(value) == expected


def test_numbers_are_given_back_only_when_exact():
    assert number(Fraction(3)) == 3
    assert number(Fraction(1, 10)) == 0.1
    assert number(Fraction(1, 3)) is None
    assert number(Fraction(10**400, 3)) is None


def test_keys_are_those_of_json():
    assert key(1) == key(1.0) != key(True)
    assert key({"a": [1, None]}) == key({"a": [1.0, None]})
    assert key(0.5) == 0.5
    assert len({key([]), key({}), key(None), key(""), key(0), key(False)}) == 6
    with pytest.raises(TypeError):
        key(object())


def test_extent_counts_depth_and_nodes():
    assert extent([[[]]], 2, 10) is None
    assert extent([[[]]], 1, 10) is not None
    assert extent(list(range(10)), 5, 10) is not None


def test_a_budget_ends():
    arena = Arena()
    with pytest.raises(OutOfSteps):
        holds(arena, arena.atom(Least(Fraction(1), strict=False)), 1, Budget(0))


def test_memory_is_bounded():
    arena, budget = Arena(), Budget(10**6)
    rule = arena.fields(TRUE, arena.atom(Step(Fraction(1))))
    assert arena.fields(FALSE, FALSE) == TRUE
    for index in range(30_000):
        assert holds(arena, rule, {"a": index}, budget)


def least(bound, *, strict=False):
    return Least(Fraction(bound), strict), True


def most(bound, *, strict=False):
    return Most(Fraction(bound), strict), True


@pytest.mark.parametrize(
    ("atoms", "status"),
    [
        ([least(1), most(1)], Status.FOUND),
        ([least(1, strict=True), most(1)], Status.EMPTY),
        ([least(2), most(1)], Status.EMPTY),
        ([(Step(Fraction(1)), True), (Step(Fraction(1, 2)), False)], Status.EMPTY),
        ([(Step(Fraction(7)), True), least(10**40), (Step(Fraction(13)), False)], Status.FOUND),
        ([(Step(Fraction(7)), True), most(-(10**40)), (Step(Fraction(13)), False)], Status.FOUND),
        ([(Step(Fraction(1)), True), least("1/3", strict=True), most("2/3", strict=True)], Status.EMPTY),
        ([(Step(Fraction(1)), True), least(0, strict=True), most(2, strict=True)], Status.FOUND),
        ([(Step(Fraction(2)), True), (Step(Fraction(4)), True), least(1), most(3)], Status.EMPTY),
        ([(Step(Fraction(1, 3)), True), least("1/4"), most("1/2")], Status.UNKNOWN),
        ([least(0, strict=True), most("1/1000", strict=True)], Status.FOUND),
        ([(Least(Fraction(1), strict=False), False), (Most(Fraction(-1), strict=True), False)], Status.FOUND),
        ([(Step(Fraction(1, 4)), False), least(3)], Status.FOUND),
        ([least("1/3"), most("1/3")], Status.UNKNOWN),
        ([least(1), least(1, strict=True), most(1)], Status.EMPTY),
        ([most(1), most(1, strict=True), least(1)], Status.EMPTY),
        ([(Step(Fraction(1)), True), (Values(frozenset(range(-5000, 5001)), tuple(range(-5000, 5001))), False)], Status.UNKNOWN),
        ([(Step(Fraction(1)), True), least(0), most(1), (Values(frozenset({0, 1}), (0, 1)), False)], Status.EMPTY),
        ([least(0, strict=True), most("1/1000000", strict=True), (Step(Fraction(1, 10**9)), False)], Status.FOUND),
        ([(Opaque("x", "", "x"), True), least(0)], Status.UNKNOWN),
    ],
)  # fmt: skip
def test_numbers(atoms, status):
    assert solve(atoms).status is status


def test_too_few_values_for_different_positions():
    arena = Arena()
    solver = Solver(arena, Budget(10_000))
    one, two = frozenset({arena.values([1])}), frozenset({arena.values([1, 2])})
    assert choose(solver, [one, two])[0] is Status.FOUND
    assert choose(solver, [two, one])[1] == [2, 1]
    assert choose(solver, [one, one])[0] is Status.EMPTY
    assert choose(solver, [two] * (MAX_POSITIONS + 1))[0] is Status.UNKNOWN


def test_kinds_have_one_order():
    assert [kind.name for kind in Kind] == ["NULL", "BOOLEAN", "STRING", "NUMBER", "OBJECT", "ARRAY"]


def test_a_judge_of_a_broken_schema_never_answers():
    broken = {"type": 7}
    assert Judge(broken, Scale(Document(broken, DRAFT_2020_12))).accepts(1) is None


def test_a_judge_refuses_what_would_hang_it():
    def laughs(depth):
        defs = {
            f"d{i}": {"oneOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"not": {"$ref": f"#/$defs/d{i + 1}"}}]}
            for i in range(depth)
        }
        return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{depth}": {"type": "null"}}}

    for depth, answered in ((5, True), (60, False)):
        document = Document(laughs(depth), DRAFT_2020_12)
        assert (Judge(document.root, Scale(document)).accepts(1) is not None) is answered


def test_weights_follow_the_instance():
    schema = {
        "type": "object",
        "properties": {"kids": {"type": "array", "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}},
        "patternProperties": {"^x": {"$ref": "#"}},
        "dependentSchemas": {"kids": {"$ref": "#/missing"}},
    }
    scale = Scale(Document(schema, DRAFT_2020_12))
    value = {}
    for _ in range(8):
        value = {"kids": [value]}
    assert scale.bearable(value)
    for _ in range(30):
        value = {"kids": [value]}
    assert not scale.bearable(value)


def test_a_surrogate_is_no_instance():
    assert relate({"enum": ["\ud800", "a"]}, {"const": "a"}).relation in (Relation.UNDECIDED, Relation.NARROWED)
