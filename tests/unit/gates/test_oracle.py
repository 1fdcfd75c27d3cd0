"""No program is judged clean in which a denied, missing, stale or blind approval lets a dangerous call happen."""

import logging
import os

import pytest
from hypothesis import HealthCheck, given, settings

from tests.unit.gates import shown_oracle
from tests.unit.gates.harness import errors
from tests.unit.gates.oracle import HEADER, concurrent_programs, programs, violations
from tests.unit.gates.shown_oracle import concurrent_shown_programs, shown_programs, shown_violations

pytestmark = pytest.mark.timeout(3600)
PROGRAMS = int(os.environ.get("KEEL_TEST_PROGRAMS") or (5_000 if os.environ.get("KEEL_TEST_LONG") else 300))


def many(count: int):
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck), database=None)


@many(PROGRAMS)
@given(programs)
def test_what_is_judged_clean_never_calls_unapproved(source):
    if not errors(source, header=HEADER):
        assert violations(source) == ""


@many(PROGRAMS // 10)
@given(concurrent_programs)
def test_concurrent_programs_too(source):
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # tasks that lose a race are not the subject
    if not errors(source, header=HEADER):
        assert violations(source, 60) == ""


@many(PROGRAMS)
@given(shown_programs)
def test_what_is_judged_clean_calls_what_was_shown(source):
    if not errors(source, header=shown_oracle.HEADER):
        assert shown_violations(source) == ""


@many(PROGRAMS // 5)
@given(concurrent_shown_programs)
def test_concurrent_programs_call_what_was_shown(source):
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    if not errors(source, header=shown_oracle.HEADER):
        assert shown_violations(source, 100) == ""


WRONG = """
@flow
def subject(x, y, z, xs, d):
    {body}
"""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("refund(a=x)", "no approval"),
        ('human_gate("go?"); refund(a=x)', "unseen"),
        ('human_gate(f"{y}?"); refund(a=x)', "unseen"),
        ('human_gate(f"{x}?"); x = plain(); refund(a=x)', "stale"),
        ('human_gate(f"{xs}?"); xs.append(y); refund(a=xs)', "stale"),
        ('human_gate(f"{x}?"); refund(a=x, b=plain())', "stale"),
        ('human_gate(f"{xs}?"); [refund(a=v) for v in xs * 2]', "repeated"),
        ('human_gate("refund?"); [refund(a=x) for _ in range(2)]', "repeated"),
        ('human_gate(f"{x}?", on_reject="return"); refund(a=x)', "no approval"),
    ],
)
def test_the_oracle_sees(body, reason):
    assert reason in shown_violations(WRONG.format(body=body))


@pytest.mark.parametrize(
    "body",
    [
        'human_gate(f"{x}?"); refund(a=x)',
        'human_gate("refund?"); refund(a="x")',
        'human_gate("go?", show=d); refund(a=d["k"], b=y)',
        'human_gate(f"{xs}?"); [refund(a=v) for v in xs]',
        'ok = human_gate(f"{x}?", on_reject="return"); ok and refund(a=f"{x}!")',
        "gated(refund)(a=plain())",
    ],
)
def test_the_oracle_accepts(body):
    source = WRONG.format(body=body)
    assert shown_violations(source) == ""
    assert errors(source, header=shown_oracle.HEADER) == set()
