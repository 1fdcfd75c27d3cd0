"""Lines are the same however their bytes arrive, and none takes more memory than its limit."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from keel.capture.lines import LineReader, LongLine


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(edges)]


@given(
    st.lists(st.binary(max_size=40).map(lambda item: item.replace(b"\n", b"")), max_size=8),
    st.lists(st.integers(0, 400)),
)
def test_lines_do_not_depend_on_how_bytes_arrive(lines: list[bytes], places: list[int]) -> None:
    reader = LineReader(20)
    found = [line for chunk in cut(b"".join(line + b"\n" for line in lines), places) for line in reader.feed(chunk)]
    assert [bool(isinstance(item, LongLine)) for item in found] == [len(line) > 20 for line in lines]
    assert [item for item in found if isinstance(item, bytes)] == [line for line in lines if len(line) <= 20]
    assert reader.rest() is None


def test_of_a_long_line_both_ends_are_kept_and_its_middle_is_not() -> None:
    reader = LineReader(10_000)
    found: list[bytes | LongLine] = []
    for part in (b'{"id":7,', b"x" * 9_000, *[b"y" * 65_536] * 100, b'"end"}\nnext'):
        found += reader.feed(part)
        assert len(reader._line) <= 75_000
    (line,) = found
    assert isinstance(line, LongLine)
    assert line.ends.startswith(b'{"id":7,')
    assert line.ends.endswith(b'"end"}')
    assert len(line.ends) <= 2 * 4096
    assert reader.rest() == b"next"


def test_it_is_known_while_a_line_is_growing() -> None:
    reader = LineReader(4)
    assert list(reader.feed(b"12345")) == []
    assert reader.overlong
    assert isinstance(reader.rest(), LongLine)
    assert not reader.overlong
