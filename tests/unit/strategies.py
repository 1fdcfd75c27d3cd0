"""Random JSON values and tool definitions for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
integers = st.integers(-(10**30), 10**30)
fractions = st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer())
scalars = st.none() | st.booleans() | integers | fractions | text
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4), max_leaves=12
)
names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
schemas = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer", "null"])}, optional={"description": text, "default": values}
    ),
    lambda inner: st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(names, inner, max_size=3)},
        optional={"required": st.lists(names, unique=True, max_size=3), "description": text},
    ),
    max_leaves=6,
)
tools = st.fixed_dictionaries(
    {"name": names, "inputSchema": schemas},
    optional={
        "description": text,
        "outputSchema": schemas,
        "annotations": st.dictionaries(st.sampled_from(["readOnlyHint", "destructiveHint"]), st.booleans()),
        "_meta": st.dictionaries(names, text, max_size=2),
    },
)
