import pytest

from keel.core.finding import Severity
from keel.rules.interface import Category
from keel.rules.registry import RULES
from keel.rules.run import lint_surface
from tests.unit.rules.wordings import ATTACKS, HARMLESS, KNOWN_MISSES

TEXT_RULES = [rule for rule in RULES if rule.meta.category in (Category.TEXT, Category.CHARACTERS)]


def errors(text):
    tool = {"name": "x", "description": text, "inputSchema": {"type": "object"}}
    findings, gaps = lint_surface("", [tool], rules=TEXT_RULES)
    assert gaps == ()
    return sorted({item.code for item in findings if item.severity is Severity.ERROR})


@pytest.mark.parametrize("text", ATTACKS)
def test_attacks_are_found(text):
    assert errors(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_texts_are_left_alone(text):
    assert errors(text) == []


@pytest.mark.parametrize("text", KNOWN_MISSES)
def test_known_misses_stay_documented(text):
    assert errors(text) == []
