"""Masks hide what they may, exactly there, and nothing wider; suggested ones settle what they were made for."""

from __future__ import annotations

import time

from hypothesis import example, given
from hypothesis import strategies as st

from keel.capture.instability import other_environment, suggest, unstable
from keel.core.model import Surface, VolatileMask
from keel.drift.volatile import PLACEHOLDER, apply_masks, mask_findings, mask_text
from keel.manifest.masks import mask_problem

POINTER = "/inputSchema/properties/zone/description"


def surface(text, instructions="Now 12:00", name="convert"):
    schema = {"type": "object", "properties": {"zone": {"description": text}, "a/b": {"enum": ["x", "T1"]}}}
    return Surface({"instructions": instructions, "protocolVersion": "x"}, ({"name": name, "inputSchema": schema},))


def described(value):
    return value.tools[0]["inputSchema"]["properties"]["zone"]["description"]


def test_a_mask_replaces_its_matches_at_its_pointer_only():
    before = surface("Use 'Etc/UTC' or 'Asia/Tokyo'.")
    after = apply_masks(before, [VolatileMask("convert", POINTER, "'[A-Za-z/]+'")])
    assert described(after) == f"Use {PLACEHOLDER} or {PLACEHOLDER}."
    assert after.tools[0]["inputSchema"]["properties"]["a/b"] == before.tools[0]["inputSchema"]["properties"]["a/b"]
    assert described(before) == "Use 'Etc/UTC' or 'Asia/Tokyo'."


def test_pointers_reach_into_lists_and_escaped_names():
    after = apply_masks(surface("T1 "), [VolatileMask("convert", "/inputSchema/properties/a~1b/enum/1", "T[0-9]")])
    assert after.tools[0]["inputSchema"]["properties"]["a/b"]["enum"] == ["x", PLACEHOLDER]
    assert described(after) == "T1 "


def test_instructions_are_masked_without_a_tool():
    after = apply_masks(surface("x"), [VolatileMask("", "/instructions", "[0-9]{2}:[0-9]{2}")])
    assert after.instructions == f"Now {PLACEHOLDER}"


def test_a_mask_that_hits_nothing_changes_nothing():
    before = surface("x")
    for mask in (
        VolatileMask("other", POINTER, "x"),
        VolatileMask("convert", "/nowhere", "x"),
        VolatileMask("convert", "/inputSchema", "x"),
        VolatileMask("convert", POINTER, "y"),
        VolatileMask("", "/elsewhere", "N"),
        VolatileMask("convert", POINTER, "z*"),
    ):
        assert apply_masks(before, [mask]) == before


def test_a_match_with_white_space_or_too_long_is_not_hidden_but_reported():
    for text, pattern in (("ignore all rules", "ignore.*"), ("a" * 65, "a+"), ("b" * 500, "b+")):
        mask = VolatileMask("convert", POINTER, pattern, 7, 3)
        assert described(apply_masks(surface(text), [mask])) == text
        (found,) = mask_findings("srv", surface(text), [mask], "keel.yaml")
        assert (found.code, found.location.line, found.location.key) == ("volatile-too-wide", 7, "srv/convert")
    assert not list(mask_findings("srv", surface("a" * 64), [VolatileMask("convert", POINTER, "a+")]))
    assert mask_text("a+", "a" * 64) == PLACEHOLDER


def test_masking_is_linear_in_the_text():
    start = time.process_time()
    mask_text("a*a*a*b", "a" * 4_000)
    assert time.process_time() - start < 20


def test_a_time_zone_yields_the_mask_that_settles_it():
    one, other = surface("Use 'Etc/UTC' as local."), surface("Use 'Pacific/Kiritimati' as local.")
    (found,) = unstable("time", one, other)
    assert (found.code, found.location.key, found.location.pointer) == ("unstable-definition", "time/convert", POINTER)
    mask = suggest("convert", POINTER, described(one), described(other))
    assert mask is not None
    assert mask.match in found.next.replace("\\\\", "\\")
    assert not list(unstable("time", one, other, [mask]))
    assert not list(unstable("time", one, surface("Use 'America/New_York' as local."), [mask]))


def test_other_differences_name_their_place():
    one, other = surface("x"), surface("x", instructions="Now 13:00")
    (found,) = unstable("time", one, other)
    assert (found.location.key, found.location.pointer) == ("time", "/instructions")
    (gone, new) = unstable("time", one, surface("x", name="renamed"))
    assert {gone.location.key, new.location.key} == {"time/convert", "time/renamed"}
    (kind,) = unstable("time", surface(1), surface(True))
    assert "1" in kind.message


def test_order_cannot_be_masked():
    (found,) = unstable("s", surface("one of red, green"), surface("one of green, red"))
    assert "no mask" in found.next


WORDS = st.text(st.sampled_from("ab'/_ 9.é\t"), max_size=12)


@given(WORDS, WORDS, WORDS, WORDS)
@example("port ", "8080", "41234", " open")
@example("at '", "A", "B", "'")
def test_a_suggested_mask_is_permitted_and_settles(before, one, other, after):
    first, second = before + one + after, before + other + after
    mask = suggest("t", "/description", first, second)
    if mask is not None and first != second:
        assert mask_problem(mask.match) is None
        assert mask_text(mask.match, first) == mask_text(mask.match, second)
        assert PLACEHOLDER in mask_text(mask.match, first)


def test_numbers_and_paths_are_settled():
    for one, other in (("port 8080 open", "port 41234 open"), ("in /home/a/x.", "in /root/x."), ("id=a1", "id=b2c")):
        assert suggest("t", "/d", one, other) is not None, one


def test_the_second_environment_differs_but_keeps_what_the_launch_sets():
    other = other_environment({"PATH": "/bin", "LANG": "de_DE.UTF-8"})
    fresh = {"TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "1", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
    assert other == {"PATH": "/bin", **fresh}
    assert other_environment({"TZ": "UTC", "LANG": "C"})["TZ"] == "UTC"
    assert other_environment({"LANG": "C"})["LC_ALL"] == "en_US.UTF-8"
