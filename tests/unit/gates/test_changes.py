"""What plain code changes is noticed, however it gets hold of it; what it leaves alone is not."""

import pytest

from keel.flow import plaincalls
from tests.unit.gates import test_fixtures as fixtures
from tests.unit.gates.harness import errors

IN_PLACE_ONLY = {
    "approval-stale-object-holds-list",
    "approval-stale-class-attribute-helper",
    "approval-stale-mutable-default",
}
"""Cases that only reading in place notices."""
STALE = [name for name in fixtures.CASES if name.startswith("approval-stale-") and name not in IN_PLACE_ONLY]


@pytest.mark.parametrize("name", STALE)
def test_summaries_alone_notice_every_change_too(name, monkeypatch):
    monkeypatch.setattr(plaincalls, "MAX_PLAIN_SIZE", 0)
    fixtures.test_verdict(name)


CHANGED = {
    "attribute of a held list": """
class Box:
    def __init__(self, xs):
        self.xs = xs
def put(box, d):
    box.xs.append(d)
@flow
async def f(cs: list, d: str):
    box = Box(cs)
    await human_gate(f"pay {cs}?")
    put(box, d)
    for c in cs:
        await refund(a=c)
""",
    "member of a display": """
@flow
async def f(cs: list, d: str):
    box = {"cs": cs}
    await human_gate(f"pay {cs}?")
    box["cs"].append(d)
    for c in cs:
        await refund(a=c)
""",
    "element of a copy": """
@flow
async def f(reqs: list, d: str):
    await human_gate(f"pay {reqs}?")
    for r in sorted(reqs):
        r["a"] = d
    for r in reqs:
        await refund(a=r["a"])
""",
    "nonlocal in a task": """
@flow
async def f(c: str, t: str):
    async def fix():
        nonlocal c
        c = (await get(a=t))["c"]
    task = asyncio.create_task(fix())
    await human_gate(f"pay {c}?")
    await refund(a=c)
    await task
""",
    "subtracted from a set": """
@flow
async def f(cs: set, ds: set):
    al = cs
    await human_gate(f"pay {cs}?")
    al -= ds
    await refund(a=cs)
""",
    "partial of a plain function": """
def add(xs, d):
    xs.append(d)
@flow
async def f(cs: list, d: str):
    put = functools.partial(add, cs)
    await human_gate(f"pay {cs}?")
    put(d)
    await refund(a=cs)
""",
    "async helper": """
async def add(xs, d):
    xs.append(d)
@flow
async def f(cs: list, d: str):
    await human_gate(f"pay {cs}?")
    await add(cs, d)
    await refund(a=cs)
""",
    "async closure": """
@flow
async def f(cs: list, d: str):
    async def add():
        cs.append(d)
    await human_gate(f"pay {cs}?")
    await add()
    await refund(a=cs)
""",
}

LEFT_ALONE = {
    "a number is added to": """
@flow
async def f(c: str, n: float):
    total = n
    await human_gate(f"pay {n} to {c}?")
    total += 5
    await refund(a=c, n=n)
""",
    "a log that nobody uses": """
def note(log, text):
    log.append(text)
@flow
async def f(c: str):
    log = []
    await human_gate(f"pay {c}?")
    note(log, f"asked for {c}")
    await refund(a=c)
""",
    "a copy": """
def more(xs):
    ys = list(xs)
    ys.append("x")
    return ys
@flow
async def f(cs: list):
    await human_gate(f"pay {cs}?")
    print(more(cs))
    await refund(a=cs)
""",
    "a key function": """
@flow
async def f(cs: list):
    await human_gate(f"pay {cs}?")
    print(sorted(cs, key=lambda c: c["n"]))
    await refund(a=cs)
""",
    "siblings that change what is their own": """
async def pay(c, log):
    await human_gate(f"pay {c}?")
    await refund(a=c)
    log.append(c)
@flow
async def f(a: str, b: str):
    log = []
    await asyncio.gather(pay(a, log), pay(b, log))
""",
    "a task awaited before the gate": """
@flow
async def f(t: str):
    req = {"c": "x"}
    async def fix():
        req["c"] = (await get(a=t))["c"]
    task = asyncio.create_task(fix())
    await task
    await human_gate(f"pay {req['c']}?")
    await refund(a=req["c"])
""",
    "a prompt with a guard": """
def prompt(c, n):
    if n < 0:
        raise ValueError(n)
    try:
        amount = f"{n:.2f}"
    except TypeError:
        amount = str(n)
    return f"pay {amount} to {c}"
@flow
async def f(c: str, n: float):
    await human_gate(prompt(c, n))
    await refund(a=c, n=n)
""",
    "an object that counts": """
class Count:
    def __init__(self, name):
        self.name = name
        self.n = 0
    def up(self):
        self.n += 1
@flow
async def f(c: str):
    count = Count(c)
    await human_gate(f"pay {c}?")
    count.up()
    await refund(a=c)
""",
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_change_after_the_gate_is_noticed(name):
    assert "approval-stale-argument" in errors(CHANGED[name])


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_is_not_changed_stays_approved(name):
    assert errors(LEFT_ALONE[name]) == set()
