"""Secrets are found and masked in every form in which they travel."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.core.redact import MASK, SHORTEST, Redactor
from keel.core.text import escape

SECRET = 'pa/ss+wo rd=é"1\\\u200b'


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), quote_plus(SECRET)),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        json.dumps(SECRET)[1:-1].replace("/", "\\/"),
        repr(SECRET + "'")[1:-1],
        str(KeyError(SECRET)),
        escape(SECRET),
        base64.b64encode(SECRET.encode()).decode().rstrip("="),
        base64.urlsafe_b64encode(b"user:" + SECRET.encode()).decode(),
    ],
)
def test_each_form_is_found(form):
    assert Redactor([SECRET]).holds_secret(f"before {form} after")
    assert MASK in Redactor([SECRET]).clean(f"before {form} after")


@given(st.binary(max_size=5), st.text(min_size=SHORTEST, max_size=20).filter(str.isprintable), st.binary(max_size=5))
def test_base64_is_found_wherever_the_secret_starts(before, secret, after):
    packed = base64.b64encode(before + secret.encode("utf-8", "surrogatepass") + after).decode()
    redactor = Redactor([secret])
    assert redactor.holds_secret(packed)


@given(st.lists(st.text(min_size=SHORTEST, max_size=12), min_size=1, max_size=4), st.text(max_size=20))
def test_nothing_is_left_of_any_secret(secrets, around):
    left = Redactor(secrets).clean(around.join(secrets)).replace(MASK, "\0")
    assert not any(secret in left for secret in secrets if "\0" not in secret)


def test_the_longer_of_two_secrets_is_masked_whole():
    assert Redactor(["abcd", "abcdef"]).clean("abcdef abcd") == f"{MASK} {MASK}"


def test_short_values_and_none_at_all_change_nothing():
    assert Redactor(["a", "", "1"]).clean("a 1") == "a 1"
    assert not Redactor()
    assert not Redactor().holds_secret("anything")
