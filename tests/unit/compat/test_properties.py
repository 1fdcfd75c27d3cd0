"""No proof is contradicted by a sampled instance, no witness by a validator, on generated schemas.

`KEEL_TEST_LONG` raises the number of examples from 200 to 10,000.
"""

import os

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from keel.compat.dialect import DRAFT_2020_12, dialect_of
from keel.compat.document import Document
from keel.compat.interface import Relation, Side
from keel.compat.membership import Budget, holds
from keel.compat.nodes import Arena
from keel.compat.relation import relate
from keel.compat.translate import Translator

EXAMPLES = 10_000 if os.environ.get("KEEL_TEST_LONG") else 200
pytestmark = pytest.mark.timeout(1800)
# Generated data is the point here, its size is bounded below.
relaxed = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

NAMES = st.sampled_from(["a", "b", "ab", "x-1"])
PATTERNS = st.sampled_from(["^a", "b$", "^x-", "^[a-c]+$", "a|b", "^.{2,3}$", "", "^(?!a)", "\\d", "^(ab|a)*$"])
SMALL = st.integers(0, 3)
SCALARS = st.sampled_from([None, True, False, 0, 1, 2, -1, 1.5, 3, "", "a", "b", "ab", "x-1", "1"])
LEAVES = st.sampled_from(
    [
        True,
        False,
        {},
        {"type": "string"},
        {"type": "integer"},
        {"type": "number"},
        {"type": ["string", "null"]},
        {"$ref": "#/$defs/d"},
    ]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.just("q"), inner, max_size=3),
    max_leaves=6,
)


def keywords(inner):
    """One keyword, or a few that belong together, as a partial schema."""
    some = st.lists(inner, min_size=1, max_size=3)
    single = {
        "type": st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array", ["object", "array"]]),
        "enum": st.lists(VALUES, min_size=1, max_size=3), "const": VALUES,
        "minimum": SCALARS.filter(lambda v: type(v) in (int, float)), "exclusiveMaximum": st.sampled_from([0, 1, 2, 1.5]),
        "multipleOf": st.sampled_from([1, 2, 3, 0.5, 1.5]), "minLength": SMALL, "maxLength": SMALL, "pattern": PATTERNS,
        "items": inner, "prefixItems": some, "minItems": SMALL, "maxItems": SMALL, "uniqueItems": st.booleans(),
        "contains": inner, "minContains": SMALL, "maxContains": SMALL, "unevaluatedItems": inner,
        "properties": st.dictionaries(NAMES, inner, max_size=2), "patternProperties": st.dictionaries(PATTERNS, inner, max_size=1),
        "additionalProperties": inner, "propertyNames": inner, "required": st.lists(NAMES, max_size=2, unique=True),
        "minProperties": SMALL, "maxProperties": SMALL, "unevaluatedProperties": inner,
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=1), max_size=1),
        "dependentSchemas": st.dictionaries(NAMES, inner, max_size=1),
        "allOf": some, "anyOf": some, "oneOf": some, "not": inner, "if": inner, "then": inner, "else": inner,
    }  # fmt: skip
    return st.sampled_from(sorted(single)).flatmap(lambda name: st.tuples(st.just(name), single[name]))


SCHEMAS = st.recursive(LEAVES, lambda inner: st.lists(keywords(inner), max_size=3).map(dict), max_leaves=6)


def without_loops(schema):
    """A definition whose references all stand below an instance location, as loops in place mean nothing."""
    if not isinstance(schema, dict):
        return schema
    kept = {name: value for name, value in schema.items() if name != "$ref"}
    for name in ("allOf", "anyOf", "oneOf"):
        if name in kept:
            kept[name] = [without_loops(branch) for branch in kept[name]]
    for name in ("not", "if", "then", "else"):
        if name in kept:
            kept[name] = without_loops(kept[name])
    if "dependentSchemas" in kept:
        kept["dependentSchemas"] = {name: without_loops(value) for name, value in kept["dependentSchemas"].items()}
    return kept


@st.composite
def roots(draw):
    """A whole schema with one definition that it may refer to."""
    schema = draw(SCHEMAS)
    return {**schema, "$defs": {"d": without_loops(draw(SCHEMAS))}} if isinstance(schema, dict) else schema


@st.composite
def pairs(draw):
    """Two schemas, more often than not alike."""
    old = draw(roots())
    if not isinstance(old, dict) or draw(st.integers(0, 3)) == 0:
        return old, draw(roots())
    change = draw(SCHEMAS)
    new = {**old, **change} if isinstance(change, dict) else {"allOf": [old, change], "$defs": old["$defs"]}
    return (old, new) if draw(st.booleans()) else (new, old)


def validator(schema):
    return jsonschema_rs.Draft202012Validator(schema, offline=True, validate_formats=False)


@relaxed
@given(pairs(), st.lists(VALUES, min_size=5, max_size=30))
def test_verdicts_agree_with_instances(pair, instances):
    old, new = pair
    verdict = relate(old, new)
    accepts_old, accepts_new = validator(old), validator(new)
    for instance in instances:
        was, now = accepts_old.is_valid(instance), accepts_new.is_valid(instance)
        assert not (was and not now and verdict.input is Side.COMPATIBLE), (verdict, instance)
        assert not (now and not was and verdict.output is Side.COMPATIBLE), (verdict, instance)
    for witness, inside, outside in (
        (verdict.witness_old_not_new, accepts_old, accepts_new),
        (verdict.witness_new_not_old, accepts_new, accepts_old),
    ):
        if witness is not None:
            assert inside.is_valid(witness.value)
            assert not outside.is_valid(witness.value)


@relaxed
@given(pairs())
def test_the_two_directions_are_mirror_images(pair):
    old, new = pair
    verdict, mirror = relate(old, new), relate(new, old)
    assume(Relation.UNDECIDED not in (verdict.relation, mirror.relation))
    assert (verdict.input, verdict.output) == (mirror.output, mirror.input)


@relaxed
@given(roots())
def test_respelling_is_no_change(schema):
    respelled = {
        "allOf": [schema, {"title": "wrapped"}],
        **({"$defs": schema["$defs"]} if isinstance(schema, dict) else {}),
    }
    if isinstance(schema, dict):
        respelled["allOf"][0] = {name: value for name, value in schema.items() if name != "$defs"}
    assert relate(schema, respelled).relation is Relation.EQUIVALENT


@relaxed
@given(roots(), st.lists(VALUES, min_size=3, max_size=20))
def test_translation_means_what_the_validator_says(schema, instances):
    arena = Arena()
    literal = Translator(arena, Document(schema, dialect_of(schema) or DRAFT_2020_12), 0).root()
    judge = validator(schema)
    for instance in instances:
        assert holds(arena, literal, instance, Budget(100_000)) in (None, judge.is_valid(instance)), instance


DRAFTS = {
    "http://json-schema.org/draft-04/schema#": ["minimum", "type", "items", "required", "properties", "dependencies"],
    "http://json-schema.org/draft-06/schema#": [
        "const",
        "contains",
        "minContains",
        "items",
        "additionalItems",
        "propertyNames",
    ],
    "http://json-schema.org/draft-07/schema#": [
        "if",
        "then",
        "items",
        "additionalItems",
        "prefixItems",
        "dependencies",
    ],
    "https://json-schema.org/draft/2019-09/schema": [
        "items",
        "additionalItems",
        "minContains",
        "contains",
        "prefixItems",
    ],
}


@st.composite
def dated(draw):
    """A schema of an earlier dialect, keywords of later ones among it."""
    uri = draw(st.sampled_from(sorted(DRAFTS)))
    leaf = st.sampled_from([{"type": "string"}, {"type": "integer"}, {"minimum": 1}, {"enum": [1, "a"]}])
    shapes = {
        "items": leaf | st.lists(leaf, min_size=1, max_size=2), "additionalItems": leaf, "prefixItems": st.lists(leaf, min_size=1, max_size=2),
        "dependencies": st.dictionaries(NAMES, leaf | st.lists(NAMES, min_size=1, max_size=1), max_size=1), "contains": leaf,
        "minContains": SMALL, "minimum": st.integers(0, 2), "type": st.sampled_from(["array", "object", "number"]), "const": SCALARS,
        "required": st.lists(NAMES, min_size=1, max_size=2, unique=True), "properties": st.dictionaries(NAMES, leaf, max_size=2),
        "propertyNames": st.sampled_from([{"maxLength": 1}, {"enum": ["a"]}]), "if": leaf, "then": leaf,
    }  # fmt: skip
    chosen = draw(st.lists(st.sampled_from(DRAFTS[uri]), min_size=1, max_size=4, unique=True))
    return {"$schema": uri, **{name: draw(shapes[name]) for name in chosen}}


@relaxed
@given(dated(), st.lists(VALUES, min_size=3, max_size=20))
def test_earlier_dialects_mean_what_their_validator_says(schema, instances):
    arena = Arena()
    dialect = dialect_of(schema)
    assert dialect is not None
    literal = Translator(arena, Document(schema, dialect), 0).root()
    judge = jsonschema_rs.validator_for(schema, offline=True, validate_formats=False)
    for instance in instances:
        assert holds(arena, literal, instance, Budget(100_000)) in (None, judge.is_valid(instance)), instance
