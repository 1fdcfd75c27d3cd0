"""Events come out the same however their bytes arrive."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.capture.sse import Event, EventReader, EventTooLong


def events(*chunks, limit=1000):
    reader = EventReader(limit)
    return [event for chunk in chunks for event in reader.feed(chunk)]


def test_fields_data_and_comments():
    text = b": ping\n\nevent: message\nid: 7\ndata: {\ndata:}\nother: x\n\nretry: 5\n\n\ndata: cut"
    assert events(text) == [Event(b"{\n}", (b"event: message", b"id: 7")), Event(b"", (b"retry: 5",))]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_all_three_line_ends(end):
    assert events(b"data: a" + end + end + b"data: b" + end + end + b"x")[:2] == [Event(b"a", ()), Event(b"b", ())]


BYTES = st.lists(
    st.sampled_from([b"data: a", b"data:", b"id: 1", b"\n", b"\r", b"\r\n", b": c", b"\xff", b" "]), max_size=30
)


@given(BYTES.map(b"".join), st.lists(st.integers(0, 200), max_size=6))
def test_cutting_the_stream_elsewhere_changes_nothing(text, cuts):
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    chunks = [text[start:end] for start, end in pairwise(places)]
    assert events(*chunks) == events(text)


def test_an_event_is_written_with_other_data():
    (event,) = events(b"event: message\nid: 1\ndata: x\n\n")
    assert events(event.encoded(b"[1]")) == [Event(b"[1]", (b"event: message", b"id: 1"))]


@pytest.mark.parametrize("chunk", [b"data: " + b"x" * 90, b"data: 1234567890\n"])
def test_an_event_beyond_the_limit_is_refused(chunk):
    with pytest.raises(EventTooLong):
        events(*[chunk] * 20, limit=100)


def test_many_small_events_are_no_long_one():
    assert len(events(*[b"data: 123456789\n\n"] * 100, limit=100)) == 100
