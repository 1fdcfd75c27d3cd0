"""Contracts: grants assert, hints only raise, and lowering a declaration needs a reason."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.core.model import Contract, Effect, Idempotency, Manifest, NativeDeclaration, Policy, Trust
from keel.manifest.parse import parse_manifest
from keel.manifest.policy import contract_for, effect_lowered, needs_reason, paste_line, returns_of

HINTS = [None, True, False, "yes", 1]
ALL_HINTS = [
    {
        name: value
        for name, value in zip(("readOnlyHint", "destructiveHint", "idempotentHint"), values, strict=True)
        if value is not None
    }
    for values in itertools.product(HINTS, HINTS, HINTS)
]


def manifest(*lines, defaults=""):
    return parse_manifest(f"version: 1\n{defaults}\ntools:\n" + "".join(f"  - {line}\n" for line in lines), "keel.yaml")


@pytest.mark.parametrize("hints", [*ALL_HINTS, None])
def test_c087_no_hint_lowers_and_only_an_explicit_destructive_hint_raises(hints):
    contract = contract_for("s/t", Manifest(), hints)
    destructive = bool(hints) and hints.get("destructiveHint") is True
    assert contract == Contract(Effect.DANGEROUS if destructive else Effect.WRITE, Idempotency.NONE, asserted=False)
    assert not contract.raceable
    assert not contract.retryable


@pytest.mark.parametrize("hints", ALL_HINTS)
def test_c088_a_grant_beats_every_hint(hints):
    granted = manifest("{tool: s/t, effect: read, idempotency: native}")
    assert contract_for("s/t", granted, hints) == Contract(Effect.READ, Idempotency.NATIVE, asserted=True)


def test_defaults_decide_for_the_unasserted():
    loaded = manifest("s/*", defaults="defaults: {unasserted_effect: dangerous}")
    assert contract_for("s/t", loaded, {"readOnlyHint": True}) == Contract(Effect.DANGEROUS, Idempotency.NONE)
    lenient = manifest("s/*", defaults="defaults: {unasserted_effect: read}")
    assert contract_for("s/t", lenient) == Contract(Effect.READ, Idempotency.NONE, asserted=False)
    assert contract_for("s/t", lenient, {"destructiveHint": True}).effect is Effect.DANGEROUS


def test_plain_and_wildcard_grants_assert_nothing_and_the_exact_one_wins():
    granted = manifest(
        "s/*", "s/plain", "{tool: s/exact, effect: external, idempotency: required}", "{tool: s/gated, approval: true}"
    )
    for key in ("s/other", "s/plain", "s/gated"):
        assert not contract_for(key, granted).asserted
    assert contract_for("s/exact", granted) == Contract(Effect.EXTERNAL, Idempotency.REQUIRED, asserted=True)


@pytest.mark.parametrize(
    ("alias", "effect"),
    [
        ("none", "read"),
        ("write_reversible", "write"),
        ("write_irreversible", "dangerous"),
        ("external_communication", "external"),
    ],
)
def test_aliases(alias, effect):
    granted = manifest(f"{{tool: s/t, effect: {alias}, idempotency: none}}")
    assert contract_for("s/t", granted).effect == effect


def test_native_tools_assert_themselves():
    assert contract_for("t", Manifest(), native=NativeDeclaration(Effect.READ, idempotent=True)) == Contract(
        Effect.READ, Idempotency.NATIVE, asserted=True
    )
    assert contract_for("t", Manifest(), native=NativeDeclaration()) == Contract(
        Effect.WRITE, Idempotency.NONE, asserted=True
    )


def test_a_grant_raises_a_declaration_without_a_reason():
    raised = manifest("{tool: t, effect: dangerous, idempotency: none}")
    native = NativeDeclaration(Effect.WRITE, idempotent=True)
    assert contract_for("t", raised, native=native) == Contract(Effect.DANGEROUS, Idempotency.NONE, asserted=True)
    assert effect_lowered("t", raised, native=native) is None
    assert not needs_reason("t", raised, native)


@pytest.mark.parametrize(
    ("grant", "native", "words"),
    [
        (
            "effect: write, idempotency: none",
            NativeDeclaration(Effect.DANGEROUS),
            "effect `write` where `@tool` declares `dangerous`",
        ),
        (
            "effect: write, idempotency: native",
            NativeDeclaration(Effect.WRITE),
            "idempotency `native` where `@tool` declares `none`",
        ),
        (
            "effect: write, idempotency: best_effort",
            NativeDeclaration(Effect.WRITE),
            "idempotency `best_effort` where `@tool` declares `none`",
        ),
        (
            "effect: read, idempotency: required",
            NativeDeclaration(Effect.WRITE),
            "effect `read` where `@tool` declares `write` and idempotency `required` where `@tool` declares `none`",
        ),
    ],
)
def test_lowering_a_declaration_needs_a_reason_and_lowers_nothing_without(grant, native, words):
    silent = manifest(f"{{tool: t, {grant}}}")
    assert effect_lowered("t", silent, native=native) == words
    assert needs_reason("t", silent, native)
    assert contract_for("t", silent, native=native) == Contract(native.effect, Idempotency.NONE, asserted=True)
    reasoned = manifest(f"{{tool: t, {grant}, reason: lab only}}")
    assert effect_lowered("t", reasoned, native=native) == words
    assert not needs_reason("t", reasoned, native)
    assert contract_for("t", reasoned, native=native).effect == reasoned.tools[0].effect


@pytest.mark.parametrize(
    ("grant", "hints", "words"),
    [
        (
            "effect: write, idempotency: native",
            {"destructiveHint": True},
            "effect `write` although the server sends `destructiveHint: true`",
        ),
        ("effect: dangerous, idempotency: none", {"destructiveHint": True}, None),
        (
            "effect: read, idempotency: native",
            {"readOnlyHint": False},
            "effect `read` although the server sends `readOnlyHint: false`",
        ),
        ("effect: read, idempotency: native", {"readOnlyHint": True}, None),
        (
            "effect: write, idempotency: native",
            {"idempotentHint": False},
            "idempotency `native` although the server sends `idempotentHint: false`",
        ),
        ("effect: write, idempotency: none", {"idempotentHint": False}, None),
        ("effect: write, idempotency: none", {"destructiveHint": "true"}, None),
        ("effect: write, idempotency: none", None, None),
    ],
)
def test_an_assertion_below_an_explicit_hint_is_told(grant, hints, words):
    assert effect_lowered("s/t", manifest(f"{{tool: s/t, {grant}}}"), hints) == words


def test_nothing_is_lowered_without_an_assertion():
    assert effect_lowered("s/t", manifest("s/*"), {"destructiveHint": True}) is None
    assert not needs_reason("t", Manifest(), NativeDeclaration(Effect.DANGEROUS))


EFFECTS, IDEMPOTENCIES = st.sampled_from(list(Effect)), st.sampled_from(list(Idempotency))


@given(EFFECTS, IDEMPOTENCIES, EFFECTS, st.booleans())
def test_without_a_reason_no_grant_permits_more_than_the_declaration(effect, idempotency, declared, idempotent):
    native = NativeDeclaration(declared, idempotent)
    granted = manifest(f"{{tool: t, effect: {effect}, idempotency: {idempotency}}}")
    contract, own = contract_for("t", granted, native=native), contract_for("t", Manifest(), native=native)
    assert contract.effect.rank >= own.effect.rank
    assert own.retryable or not contract.retryable
    assert own.raceable or not contract.raceable


def test_policy_and_trust_of_servers():
    loaded = parse_manifest(
        "version: 1\ndefaults: {policy: names, returns: untrusted}\nservers: {a: {policy: off}, b: {}}\ntools: [{tool: a/x, returns: trusted}, b/*]",
        "k",
    )
    assert {spec.name: spec.policy for spec in loaded.servers or ()} == {"a": Policy.OFF, "b": Policy.NAMES}
    assert [returns_of(key, loaded) for key in ("a/x", "b/y")] == [Trust.TRUSTED, Trust.UNTRUSTED]


@pytest.mark.parametrize(
    ("key", "hints", "line"),
    [
        ("s/t", None, "- {tool: s/t, effect: write, idempotency: none}  # the server says nothing"),
        (
            "s/t",
            {"readOnlyHint": True, "title": "x"},
            "- {tool: s/t, effect: write, idempotency: none}  # the server says readOnlyHint: true",
        ),
        (
            "s/t",
            {"destructiveHint": True},
            "- {tool: s/t, effect: dangerous, idempotency: none}  # the server says destructiveHint: true",
        ),
        ("native", None, "- {tool: native, effect: write, idempotency: none}"),
    ],
)
def test_lines_to_paste(key, hints, line):
    assert paste_line(key, hints) == line


@given(
    st.text(
        st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp", "Zs"], exclude_characters="*"),
        min_size=1,
        max_size=20,
    )
)
def test_every_line_to_paste_is_read_back(tool):
    (grant,) = manifest(paste_line(f"s/{tool}", {"readOnlyHint": True}).removeprefix("- ")).tools
    assert grant.tool == f"s/{tool}"
