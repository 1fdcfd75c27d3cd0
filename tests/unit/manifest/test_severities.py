"""The severities that a manifest may set: every code has a group, and nothing that breaks can be switched off."""

import pytest

from keel.core.codes import CODES, Severity
from keel.manifest import severities


def test_groups_hold_codes_that_exist_once():
    grouped = [code for codes in severities.GROUPS.values() for code in codes]
    assert len(grouped) == len(set(grouped))
    assert set(grouped) <= set(severities.codes())
    assert set(severities.codes()) >= severities.FLOORED


def test_every_code_that_is_an_error_by_default_is_floored():
    errors = {code for code in severities.codes() if CODES[code].severity is Severity.ERROR}
    assert {code for code in errors if not severities.is_floored(code)} == set()


@pytest.mark.parametrize("group", ["breaking", "contract", "text"])
def test_these_groups_are_floored(group):
    assert severities.is_floored(group)


def test_a_code_wins_over_its_group_in_any_order():
    for given in ({"widened": "never", "input-widened": "error"}, {"input-widened": "error", "widened": "never"}):
        assert severities.settle(given) == (("input-widened", "error"), ("output-widened", "never"))
