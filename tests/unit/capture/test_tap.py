"""What the tap keeps is what was sent; what it hands on, any typed model can read."""

from __future__ import annotations

import json

import pytest

from keel.capture.assemble import Entries, FirstReply, assemble, rebase
from keel.capture.gaps import CaptureGap
from keel.capture.replay import read_surface
from keel.capture.tap import Tap
from keel.core.jsontext import Fault
from keel.core.redact import Redactor


def tap(*secrets):
    made = Tap("srv", Redactor(secrets))
    made.sent(1, "tools/list")
    return made


def answer(result, request_id=1):
    return b'{"jsonrpc":"2.0","id":' + json.dumps(request_id).encode() + b',"result":' + result + b"}"


def test_a_listing_is_kept_whole_and_handed_on_empty():
    made = tap()
    carried = made.received(answer(b'{"tools":[{"name":"a","x":1}],"nextCursor":"c","ttlMs":1}'))
    assert carried["result"] == {"tools": [], "nextCursor": "c", "ttlMs": 1}
    assert made.replies["tools/list"].result["tools"] == [{"name": "a", "x": 1}]


def test_answers_are_matched_by_id_in_either_spelling_and_only_once():
    made = tap()
    made.received(answer(b"{}", "1"))
    assert "tools/list" in made.replies
    made.replies.clear()
    assert made.received(answer(b"{}")) is not None
    assert made.replies == {}


def test_a_transport_may_know_the_method_better():
    made = tap()
    made.received(answer(b"{}", 99), method="initialize")
    assert list(made.replies) == ["initialize"]


@pytest.mark.parametrize("line", [b"hello", b"", b"{", b"[]", b"7", b'{"a":1}', b'{"jsonrpc":"1.0"}', b"\xff"])
def test_what_is_no_message_is_none(line):
    assert tap().received(line) is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (answer(b"[1]"), "`tools/list`"),
        (answer(b'{"tools":[NaN]}'), "NaN"),
        (answer(b'{"tools":[')[:-1], "cannot be read"),
        (answer(b'{"tools":' + b"[" * 60_000 + b"]" * 59_999 + b"}"), "unexpected `}`"),
    ],
)
def test_a_broken_answer_ends_the_wire(line, words):
    made = tap()
    with pytest.raises(CaptureGap) as caught:
        made.received(line)
    assert words in str(caught.value)
    assert (caught.value.code, made.gap) == ("server-failed", caught.value)


def test_bytes_that_are_not_utf8_become_faults_at_their_place():
    made = tap()
    carried = made.received(answer(b'{"tools":[{"name":"a"},{"name":"b","title":"\xe9"}],"_meta":{"x\xe8":"\xe9"}}'))
    json.dumps(carried, ensure_ascii=False).encode()
    (meta_name, meta, title) = sorted(
        made.replies["tools/list"].faults, key=lambda fault: (fault.pointer.isascii(), fault.pointer)
    )[:3]
    assert {meta_name.fault, meta.fault, title.fault} == {Fault.LONE_SURROGATE}
    assert title.pointer == "/result/tools/1/title"
    assert "not UTF-8" in title.detail


def test_changes_and_noise_are_counted():
    made = tap()
    made.received(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
    made.received(b'{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{}}')
    made.received(b'{"jsonrpc":"2.0","method":"notifications/other"}')
    assert dict(made.changes) == {"tools": 1, "prompts": 1}
    for line in (b"\x1b[31m first", b"  ", b"second"):
        made.heard_noise(line)
    assert made.noise == 0
    made.received(answer(b"{}"))
    made.heard_noise(b"after the last answer")
    assert (made.noise, made.first_noise) == (2, "\\u{1b}[31m first")


@pytest.mark.parametrize("text", ["s3cret-value", "czNjcmV0LXZhbHVl", "s3cret\\u002dvalue", "a s3cret-value b"])
def test_a_secret_is_heard_in_any_spelling(text):
    made = tap("s3cret-value")
    made.received(answer(b'{"tools":[{"name":"' + text.encode() + b'"}]}'))
    assert made.echoed
    quiet = tap("s3cret-value")
    quiet.received(answer(b'{"tools":[]}'))
    assert not quiet.echoed


@pytest.mark.parametrize("levels", [120, 121, 122, 123, 124, 125, 126, 127, 128, 130])
def test_a_live_tool_may_nest_exactly_as_deep_as_one_in_a_file(levels):
    raw = b'{"tools":[{"name":"a","x":' + b"[" * levels + b"]" * levels + b"}]}"
    made = tap()
    made.received(answer(raw))
    reply = made.replies["tools/list"]
    page = Entries(tuple(reply.result["tools"]), rebase(reply.faults, "/result/tools"))
    assert assemble("s", FirstReply({}), {"tools": [page]})[0] == read_surface(raw, "s", "f")[0]
