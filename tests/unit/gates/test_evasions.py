"""Ways to get past a gate that were tried: each is either read for what it does, or refused."""

import pytest

from tests.unit.gates.harness import errors

PAY = '    await human_gate(f"refund 5 on {c}?", **opts)\n    await refund(c=c)\n'


@pytest.mark.parametrize(
    "made",
    ['opts = {"on_reject": "return"}', 'opts = dict(on_reject="return")', 'opts = {**{"on_reject": "return"}}'],
)
def test_options_of_a_gate_are_read_out_of_a_mapping(made):
    assert errors(f"@flow\nasync def f(c: str):\n    {made}\n{PAY}") == {"approval-ignored"}


@pytest.mark.parametrize(
    "made",
    ['opts = {"on_reject": "raise"}; opts |= {"on_reject": "return"}', "opts = given()", "opts = {c: 1}"],
)
def test_options_of_a_gate_that_are_not_known_are_refused(made):
    text = f"def given(): ...\n@flow\nasync def f(c: str):\n    {made}\n{PAY}"
    assert "dynamic-tool" in errors(text)


def test_options_of_a_gate_are_read_through_a_helper():
    text = """
async def ask(text, **kw):
    await human_gate(text, **kw)
@flow
async def f(c: str):
    await ask(f"refund 5 on {c}?", on_reject="return")
    await refund(c=c)
@flow
async def g(c: str):
    await ask(f"refund 5 on {c}?", on_reject="raise")
    await refund(c=c)
"""
    assert errors(text) == {"approval-ignored"}


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ('**{"return_exceptions": True}', {"approval-ignored"}),
        ('**{"return_exceptions": False}', set()),
        ("**given()", {"dynamic-tool", "approval-ignored"}),
    ],
)
def test_options_of_gather_are_read_out_of_a_mapping(options, wanted):
    text = f"""
def given(): ...
@flow
async def f(c: str):
    await asyncio.gather(human_gate(f"refund 5 on {{c}}?"), get(a=c), {options})
    await refund(c=c)
"""
    assert errors(text) == wanted


@pytest.mark.parametrize("decorator", ["functools.cache", "functools.lru_cache(maxsize=None)"])
def test_a_gate_is_not_remembered(decorator):
    text = f"""
@{decorator}
def ask(c):
    return bool(human_gate(f"refund 5 on {{c}}?", on_reject="return"))
@flow
def f(c: str):
    if ask(c):
        refund(c=c)
"""
    assert errors(text) == {"dynamic-tool"}


def test_a_gate_is_not_remembered_by_an_object():
    text = """
class Desk:
    def __init__(self, c):
        self.c = c
    @functools.cached_property
    def ok(self):
        return bool(human_gate(f"refund 5 on {self.c}?", on_reject="return"))
@flow
def f(c: str):
    desk = Desk(c)
    if desk.ok:
        refund(c=c)
"""
    assert errors(text) == {"dynamic-tool"}


def test_plain_data_may_be_remembered():
    text = """
@functools.cache
def norm(c):
    return c.strip()
@flow
def f(c: str):
    human_gate(f"refund 5 on {norm(c)}?")
    refund(c=norm(c))
"""
    assert errors(text) == set()
