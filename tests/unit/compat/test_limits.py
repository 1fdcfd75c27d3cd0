"""Where the comparison stops understanding or stops trying, it says so and claims nothing."""

from fractions import Fraction

import pytest

from keel.compat.dialect import DRAFT_2020_12
from keel.compat.disjoint import disjoint
from keel.compat.document import Document
from keel.compat.interface import Relation, Side
from keel.compat.locate import locate
from keel.compat.membership import Budget, holds
from keel.compat.nodes import FALSE, TRUE, Arena, Fields, Has, Kind, Least, Step, Types
from keel.compat.numbers import solve
from keel.compat.outcome import Status
from keel.compat.relation import relate
from keel.compat.sampling import samples
from keel.compat.translate import Translator
from keel.compat.weight import PATIENCE, Scale

BOMB = "^(a|b)*a(a|b){60}$"


def test_an_explosive_pattern_decides_nothing_but_hides_nothing():
    # Both are hard for an automaton; the validator still knows the listed values.
    assert (
        relate({"type": "string", "pattern": BOMB}, {"type": "string", "pattern": BOMB, "minLength": 61}).input
        is Side.UNDECIDED
    )
    assert (
        relate(
            {"enum": ["ab" * 4000, 1]}, {"anyOf": [{"type": "string", "pattern": "^(a|b)*a(a|b){90}c$"}, {"const": 1}]}
        ).output
        is not None
    )
    assert relate({"enum": ["x"]}, {"type": "string", "pattern": BOMB}).input is Side.BREAKING


@pytest.mark.parametrize("opaque", [{"properties": []}, {"patternProperties": {"(a)\\1": {"type": "null"}}}])
def test_an_opaque_rule_for_objects(opaque):
    old = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert relate({**old, **opaque}, old).input is not Side.BREAKING
    assert relate(old, {**opaque, **old}).output is not Side.BREAKING


def test_too_many_name_rules_are_left_open():
    rules = {f"^{a}.*{b}": {"type": "string"} for a in "abcd" for b in "xyz"}
    old = {"type": "object", "patternProperties": rules, "minProperties": 1}
    assert relate(old, {"type": "object", "minProperties": 1}).input is Side.COMPATIBLE
    assert relate({**old, "additionalProperties": False}, {**old, "maxProperties": 50}).input is not Side.COMPATIBLE


def test_names_by_a_recursive_schema():
    old = {"type": ["object", "string"], "maxLength": 1, "propertyNames": {"$ref": "#"}}
    new = {"type": ["object", "string"], "maxLength": 1, "propertyNames": {"maxLength": 1}}
    assert relate(old, new).relation is Relation.EQUIVALENT


def test_an_unknown_rule_for_names():
    old = {"type": "object", "propertyNames": {"pattern": "(a)\\1"}, "minProperties": 1}
    assert relate(old, {"type": "object", "minProperties": 1}).input is Side.COMPATIBLE
    assert relate({"type": "object", "minProperties": 1}, old).relation is not Relation.EQUIVALENT


def test_unknown_items_under_every_array_rule():
    unknown = {"type": "string", "pattern": "(a)\\1"}
    for rule in (
        {"uniqueItems": True},
        {"contains": unknown, "maxContains": 1},
        {"minItems": 1},
        {"not": {"uniqueItems": True}},
    ):
        verdict = relate({"type": "array", "items": unknown, **rule}, {"type": "array", "items": {"type": "string"}})
        assert verdict.input is Side.COMPATIBLE
        assert verdict.relation in (Relation.WIDENED, Relation.UNDECIDED)


def test_unspeakable_values_are_not_given_as_witnesses():
    # A value that no Python number spells exactly cannot be shown.
    tight = {"type": "number", "multipleOf": 0.1, "minimum": 10**20 + 0.1}
    assert relate({"type": "array", "items": {**tight, "not": {"type": "integer"}}, "minItems": 1}, False).input in Side


@pytest.mark.parametrize("levels", [30, 70, 120])
def test_deep_differences(levels):
    old, new = {"type": "integer"}, {"type": "number"}
    for _ in range(levels):
        old, new = {"type": "array", "items": old, "minItems": 1}, {"type": "array", "items": new, "minItems": 1}
    verdict = relate(old, new)
    assert verdict.relation in ((Relation.WIDENED,) if levels < 60 else (Relation.WIDENED, Relation.UNDECIDED))


def test_every_budget_gives_a_sound_verdict():
    old = {"type": "object", "properties": {"a": {"enum": ["x", "y"]}}}
    new = {"type": "object", "properties": {"a": {"enum": ["x", "y"]}, "n": {"type": "integer"}}}
    sides = {relate(old, new, budget=steps).input for steps in range(0, 200, 3)}
    assert Side.COMPATIBLE not in sides
    assert {Side.UNDECIDED, Side.LATENT} <= sides | {Side.UNDECIDED}
    assert relate(old, new).input is Side.LATENT


def test_references_below_unknown_keywords():
    old = {"$ref": "#/x-defs/a", "x-defs": {"a": {"$ref": "#/x-defs/b"}, "b": {"type": "string"}}}
    assert relate(old, {"type": "string"}).relation is Relation.EQUIVALENT


def test_recursive_references_between_resources_depend_on_the_scope():
    schema = {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "type": "array",
        "items": {"$id": "https://x.y/inner", "$recursiveRef": "#"},
    }
    assert relate(schema, {"type": "array", "items": {"type": "array"}}).relation is Relation.UNDECIDED


def test_long_chains_under_unevaluated():
    defs = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}]} for i in range(50)}
    schema = {
        "type": "object",
        "$ref": "#/$defs/d0",
        "unevaluatedProperties": False,
        "$defs": {**defs, "d50": {"properties": {"a": {}}}},
    }
    assert (
        relate(schema, {"type": "object", "properties": {"a": {}}, "additionalProperties": False}).relation
        is Relation.UNDECIDED
    )


def test_every_kind_of_branch_under_unevaluated():
    schema = {
        "type": "object",
        "if": {"required": ["a"]},
        "then": {"properties": {"a": {}}},
        "else": True,
        "dependentSchemas": {"b": {"properties": {"b": {}, "c": {}}}},
        "unevaluatedProperties": False,
    }
    flat = {
        "type": "object",
        "properties": {"a": {}, "b": {}, "c": {}},
        "additionalProperties": False,
        "dependentRequired": {"c": ["b"]},
    }
    assert relate(schema, flat).relation is Relation.EQUIVALENT


def test_disjoint():
    arena = Arena()
    text, empty = arena.atom(Types(frozenset({Kind.STRING}))), arena.atom(Types(frozenset({Kind.NULL})))
    whole = arena.atom(Step(Fraction(1)))
    assert disjoint(arena, FALSE, text)
    assert disjoint(arena, whole, -whole)
    assert disjoint(arena, arena.all((text, whole)), arena.all((-whole, arena.atom(Has("a")))))
    assert disjoint(arena, text, empty)
    assert not disjoint(arena, text, TRUE)
    kind = arena.values(["kind"])
    objects = arena.atom(Types(frozenset({Kind.OBJECT})))

    def tagged(value, *more):
        return arena.all((objects, arena.atom(Fields(kind, arena.values([value]))), *more))

    assert not disjoint(arena, tagged("a"), tagged("b"))  # neither requires the tag
    required = arena.atom(Has("kind"))
    assert disjoint(arena, tagged("a", required), tagged("b", required))
    assert not disjoint(arena, tagged("a", required), arena.all((objects, required, arena.atom(Fields(kind, text)))))


def test_numbers_that_run_out_of_candidates():
    assert solve([(Step(Fraction(1, 10**9)), False), (Least(Fraction(0), strict=False), True)]).status is Status.UNKNOWN
    assert (
        solve([(Least(Fraction(2), strict=False), True), (Least(Fraction(1), strict=False), True)]).status
        is Status.FOUND
    )


def translated(schema):
    to = Translator(Arena(), Document(schema, DRAFT_2020_12), 0)
    to.root()
    return to


def test_locating_passes_over_what_leads_nowhere():
    dangling = {"$ref": "#/$defs/none"}
    assert locate(translated({**dangling, "type": "string"}), 1) == ("type",)
    union = {
        "anyOf": [{**dangling, "type": "null"}, {"type": "string", "maxLength": 0}, True and {"$ref": "#/$defs/no"}],
        "$defs": {"no": False},
    }
    assert locate(translated(union), "abc")[0] == "anyOf"
    assert locate(translated({"type": "object", "patternProperties": {"^x": {"type": "null"}}}), {"y": 1, "x": None, "xx": 1}) == (
        "patternProperties", "^x", "type",
    )  # fmt: skip


def test_locating_gives_up_where_it_stands():
    schema = {"items": {"properties": {"a": {"items": {"type": "null"}}}}}
    value = [{"a": [None] * 30_000 + [1]}]
    assert locate(translated(schema), value)[:1] in ((), ("items",))


def test_membership_of_what_is_beyond_reason():
    to = translated({"minimum": 1})
    assert holds(to.arena, to.root(), 10**4000, Budget(100)) is None
    to = translated({"pattern": BOMB})
    text = "".join("ab"[(seed * 7919 >> 5) & 1] for seed in range(40_000))
    assert holds(to.arena, to.root(), text, Budget(100)) in (None, True, False)


def test_samples_use_what_the_schemas_spell_out():
    found = list(samples({"anyOf": [{"const": "c1"}, {"type": "array", "items": {"const": 7}}]}, {"enum": ["e1"]}, []))
    assert "c1" in found
    assert "e1" in found


@pytest.mark.parametrize(
    "shape",
    [
        {"items": {"type": "string"}},
        {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": {"enum": ["a", "b"]}},
        {"contains": {"type": "string"}},
        {"not": {"uniqueItems": True}},
        {"items": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}},
    ],
)
def test_long_arrays_are_decided_by_their_first_items(shape):
    wide, tight = ({"type": "array", **shape, "maxItems": most} for most in (5_000, 1_000))
    verdict = relate(wide, tight)
    assert verdict.relation is Relation.NARROWED
    assert len(verdict.witness_old_not_new.value) == 1_001
    low, high = ({"type": "array", **shape, "minItems": least} for least in (999, 1_000))
    assert relate(low, high).relation is Relation.NARROWED
    huge = [{"type": "array", **shape, "minItems": least} for least in (10**6, 10**6 + 1)]
    assert relate(*huge).input is Side.UNDECIDED
    assert relate(
        {**shape, "type": "array", "items": False, "prefixItems": [True], "minItems": 1_000}, False
    ).relation is (Relation.EQUIVALENT)


@pytest.mark.parametrize(
    "item", [{}, {"type": "string"}, {"type": "integer"}, {"type": "string", "pattern": "^[a-z]{3}$"}]
)
def test_sets_that_may_hold_less(item):
    wide, tight = ({"type": "array", "items": item, "uniqueItems": True, "maxItems": most} for most in (200, 100))
    verdict = relate(wide, tight)
    assert verdict.relation is Relation.NARROWED
    assert len(verdict.witness_old_not_new.value) == 101
    values = {"type": "array", "items": {"enum": list(range(60))}, "uniqueItems": True}
    assert relate(values, {**values, "maxItems": 60}).relation is Relation.EQUIVALENT
    assert relate(values, {**values, "maxItems": 59}).relation is Relation.NARROWED


def test_scales_lose_patience():
    schema = {"items": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}]}}
    heavy = []
    for _ in range(40):
        heavy = [heavy]
    scale = Scale(Document(schema, DRAFT_2020_12))
    assert scale.bearable([[]])
    for _ in range(PATIENCE):
        assert not scale.bearable(heavy)
    assert not scale.bearable([[]])


def test_scales_survive_depth():
    deep = []
    for _ in range(5000):
        deep = [deep]
    assert not Scale(Document({"items": {"$ref": "#"}}, DRAFT_2020_12)).bearable(deep)
