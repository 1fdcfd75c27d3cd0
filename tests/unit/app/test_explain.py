import pytest

from keel.app.explain import explain, listing
from keel.core.codes import CODES
from keel.errors import UsageError
from keel.rules.registry import BY_ID


@pytest.mark.parametrize("code", sorted({*CODES, *BY_ID}))
def test_every_code_and_rule_is_explained_and_listed(code):
    assert code in explain(code)
    assert f"  {code} " in listing()


def test_limits_come_with_their_date():
    assert "| checked | 20" in explain("target-openai-strict")


def test_an_unknown_code_is_answered_with_the_nearest():
    with pytest.raises(UsageError) as raised:
        explain("unpinned-lunch")
    assert raised.value.hint == "did you mean `unpinned-launch`?"
