"""Observations: never longer than the limit, never cut inside a character, always told when cut."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from keel.core.canonical import canonical_bytes
from keel.core.digest import digest
from keel.runtime.observation import DEFAULT_LIMIT, LEAST_LIMIT, observe

text = st.text(st.characters(blacklist_categories=("Cs",)))
json = st.recursive(
    st.none() | st.booleans() | st.integers() | text, lambda inner: st.lists(inner) | st.dictionaries(text, inner)
)


@given(json, st.integers(0, 2000))
def test_an_observation_is_bounded_and_says_what_was_cut(data: Any, limit: int) -> None:
    canonical = canonical_bytes(data)
    seen = observe(data, canonical.decode(), source="s/t", trust="untrusted", limit=limit)
    assert len(seen.text.encode()) <= max(limit, LEAST_LIMIT)
    assert seen.size == len(canonical)
    assert seen.digest == digest(data)
    whole = data if isinstance(data, str) else canonical.decode()
    if seen.truncated:
        kept, _, mark = seen.text.rpartition("\n[cut: ")
        assert whole.startswith(kept)
        assert seen.digest in mark
        assert f"{seen.size:,}" in mark
    else:
        assert seen.text == whole


def test_characters_are_never_halved() -> None:
    for extra in range(4):
        data = "x" * extra + "🙂" * DEFAULT_LIMIT
        seen = observe(data, canonical_bytes(data).decode(), source="s/t", trust="trusted")
        assert seen.truncated
        assert set(seen.text.rpartition("\n[cut: ")[0]) <= {"x", "🙂"}
