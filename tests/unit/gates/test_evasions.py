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


FORGED = [
    'object.__setattr__(ok, "approved", True)',
    'force = object.__setattr__; force(ok, "approved", True)',
    'ok.__dict__["approved"] = True',
    'vars(ok)["approved"] = True',
    'setattr(ok, "app" + "roved", True)',
    'oks = [ok]; setattr(oks[0], "app" + "roved", True)',
    'oks = [x for x in [ok]]; oks[0].__dict__["approved"] = True',
    "ok.__init__(approved=True)",
    'getattr(ok, name)["approved"] = True',
    "copy.replace(ok, **given)",
    "given(ok)",
    "alter(ok)",
]


@pytest.mark.parametrize("forged", FORGED)
def test_an_approval_is_not_forged(forged):
    text = f"""
import copy
def alter(x):
    setattr(x, "app" + "roved", True)
@flow
async def f(c: str, name: str, given):
    ok = await human_gate(f"refund 5 on {{c}}?", on_reject="return")
    {forged}
    if ok:
        await refund(c=c)
"""
    assert "dynamic-tool" in errors(text)


@pytest.mark.parametrize(
    "used",
    [
        'print(f"{ok.by} said {ok.reason}: {ok.comment}", ok)',
        'logging.getLogger("x").info("%s", ok)',
        "oks = []; oks.append(ok)",
        "note_ = describe(ok).strip()",
        "assert isinstance(ok, Approval) and bool(ok) == ok.approved",
    ],
)
def test_an_approval_may_be_read(used):
    text = f"""
import logging
def describe(answer):
    return f"{{answer.by}}: {{answer.comment}}"
@flow
async def f(c: str):
    ok = await human_gate(f"refund 5 on {{c}}?", on_reject="return")
    {used}
    if ok:
        await refund(c=c)
"""
    assert errors(text) == set()


def test_a_helper_may_test_an_approval():
    text = """
def given(answer):
    return answer.approved
@flow
async def f(c: str):
    ok = await human_gate(f"refund 5 on {c}?", on_reject="return")
    if given(ok):
        await refund(c=c)
"""
    assert errors(text) == set()


ESCAPES = [
    'helper.__globals__["refund"](c=c)',
    'getattr(helper, "__globals__")["refund"](c=c)',
    '__builtins__["__import__"]("hands").pay(c)',
    'getattr(builtins, "__imp" + "ort__")("hands").pay(c)',
    'vars(builtins)["eval"]("1")',
    "[k().run(c) for k in Base.__subclasses__()]",
    "Made(c)",
    "plain.compute(c)",
]


@pytest.mark.parametrize("escape", ESCAPES)
def test_a_tool_is_not_reached_past_its_name(escape):
    text = f"""
import builtins, plain
def helper(): ...
class Base:
    def run(self, c): ...
class Meta(type):
    def __call__(cls, c):
        return {"refund(c=c)" if escape == "Made(c)" else "None"}
class Made(metaclass=Meta): ...
@flow
def f(c: str):
    {escape}
"""
    body = "return eval(c)" if escape.startswith("plain") else "return c"
    assert "dynamic-tool" in errors(text, {"plain.py": f"def compute(c):\n    {body}\n"})


def test_the_code_of_a_function_is_not_replaced():
    text = """
async def ask(c): await human_gate(f"refund {c}")
async def nope(c): pass
ask.__code__ = nope.__code__
@flow
async def f(c: str):
    await ask(c)
    await refund(c=c)
"""
    assert errors(text) == {"dynamic-tool"}


@pytest.mark.parametrize("name", ["hands.py", "hands/__init__.py"])
def test_a_module_does_not_make_names_of_tools(name):
    other = 'from keel import mcp_tool\npay = mcp_tool("pay", "refund")\ndef __getattr__(name):\n    return pay\n'
    text = "from hands import erase\n@flow\nasync def f(c: str):\n    await erase(c=c)\n"
    assert "dynamic-tool" in errors(text, {name: other})


def test_a_frozen_class_may_set_its_own_attributes():
    text = """
import dataclasses
@dataclasses.dataclass(frozen=True)
class Case:
    c: str
    def __post_init__(self):
        object.__setattr__(self, "c", self.c.strip())
@flow
def f(c: str):
    get(a=Case(c=c).c)
"""
    assert errors(text) == set()
