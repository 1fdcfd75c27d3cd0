"""Flows in many spellings, each with the errors that the gates owe it; an empty set means clean."""

import pytest

from tests.unit.gates.harness import errors

CASES: list[tuple[str, set[str], str]] = []


def case(name: str, *codes: str):
    """Note a case; several codes joined with `|` are as right."""
    return lambda text: CASES.append((name, set(codes), text))


case("both-arms-return-gate-phi")(
    """
@flow
async def f(a: str, n: float):
    if n > 100:
        ok = await human_gate(f"LARGE {n} {a}?", on_reject="return")
    else:
        ok = await human_gate(f"{n} {a}?", on_reject="return")
    if not ok:
        return None
    await refund(a=a, n=n)
"""
)
case("bool-flag")(
    """
@flow
async def f(a: str):
    approved = False
    try:
        await human_gate(f"pay {a}?")
        approved = True
    except ApprovalDenied:
        pass
    if approved:
        await refund(a=a)
"""
)
case("helper-returns-bool")(
    """
async def confirmed(a):
    try:
        await human_gate(f"pay {a}?")
    except ApprovalDenied:
        return False
    return True
@flow
async def f(a: str):
    if not await confirmed(a):
        return
    await refund(a=a)
"""
)
case("helper-returns-bool-inverted", "approval-ignored")(
    """
async def confirmed(a):
    try:
        await human_gate(f"pay {a}?")
    except ApprovalDenied:
        return True
    return False
@flow
async def f(a: str):
    if not await confirmed(a):
        return
    await refund(a=a)
"""
)
case("taskgroup-gate-then-call")(
    """
@flow
async def f(a: str):
    async with asyncio.TaskGroup() as tg:
        tg.create_task(human_gate(f"pay {a}?"))
        t = tg.create_task(get(a=a))
    await refund(a=a)
"""
)
case("taskgroup-conditional-gate", "approval-missing")(
    """
@flow
async def f(a: str, big: bool):
    async with asyncio.TaskGroup() as tg:
        if big:
            tg.create_task(human_gate(f"pay {a}?"))
    await refund(a=a)
"""
)
case("taskgroup-sibling", "approval-missing")(
    """
@flow
async def f(a: str):
    async with asyncio.TaskGroup() as tg:
        tg.create_task(human_gate(f"pay {a}?"))
        tg.create_task(refund(a=a))
"""
)
case("task-gate-awaited-later")(
    """
@flow
async def f(a: str):
    t = asyncio.create_task(human_gate(f"pay {a}?"))
    x = await get(a=a)
    await t
    await refund(a=a)
"""
)
case("task-result-tested")(
    """
@flow
async def f(a: str):
    t = asyncio.create_task(human_gate(f"pay {a}?", on_reject="return"))
    ok = await t
    if ok:
        await refund(a=a)
"""
)
case("for-else")(
    """
@flow
async def f(a: str):
    for _ in range(3):
        ok = await human_gate(f"pay {a}?", on_reject="return")
        if ok:
            break
    else:
        return "no"
    await refund(a=a)
"""
)
case("constant-loop-gate")(
    """
@flow
async def f(a: str):
    for who in ("lead", "boss"):
        await human_gate(f"{who}: pay {a}?")
    await refund(a=a)
"""
)
case("shadow-gate-in-try-finally-return", "approval-ignored")(
    """
@flow
def f(a: str):
    try:
        human_gate(f"pay {a}?")
    finally:
        refund(a=a)
"""
)
case("gather-list-of-tasks", "approval-missing")(
    """
@flow
async def f(xs: list[str]):
    tasks = [asyncio.create_task(refund(a=x)) for x in xs]
    await asyncio.gather(*tasks)
"""
)
case("gather-list-shown")(
    """
@flow
async def f(xs: list[str]):
    await human_gate("pay these?", show=xs)
    await asyncio.gather(*[refund(a=x) for x in xs])
"""
)
case("append-coroutines")(
    """
@flow
async def f(xs: list[str]):
    await human_gate("pay these?", show=xs)
    jobs = []
    for x in xs:
        jobs.append(refund(a=x))
    await asyncio.gather(*jobs)
"""
)
case("gather-race-exception", "approval-ignored|approval-missing")(
    """
@flow
async def f(a: str):
    try:
        await asyncio.gather(human_gate(f"pay {a}?"), get(a=a))
    except ConnectionError:
        pass
    await refund(a=a)
"""
)
case("ifexp-gate")(
    """
@flow
async def f(a: str, big: bool):
    ok = await human_gate(f"BIG {a}", on_reject="return") if big else await human_gate(f"small {a}", on_reject="return")
    if ok.approved:
        await refund(a=a)
"""
)
case("all-of-answers")(
    """
@flow
async def f(a: str):
    answers = [await human_gate(f"{w}: {a}?", on_reject="return") for w in ("x", "y")]
    if all(answers):
        await refund(a=a)
"""
)
case("cond-enumerate-shown")(
    """
@flow
async def f(xs: list[str]):
    await human_gate("these?", show=xs)
    for i, x in enumerate(xs):
        await refund(a=x)
"""
)
case("sorted-shown")(
    """
@flow
async def f(xs: list[str]):
    await human_gate("these?", show=xs)
    for x in sorted(xs):
        await refund(a=x)
"""
)
case("sliced-shown")(
    """
@flow
async def f(xs: list[str]):
    await human_gate("these?", show=xs)
    for x in xs[:5]:
        await refund(a=x)
"""
)
case("nested-loops-shown")(
    """
@flow
async def f(xs: dict[str, list[str]]):
    await human_gate("these?", show=xs)
    for k, vs in xs.items():
        for v in vs:
            await refund(a=k, b=v)
"""
)
case("nested-loop-repeated-outer", "approval-missing")(
    """
@flow
async def f(xs: list[str], n: int):
    await human_gate("these?", show=xs)
    for _ in range(n):
        for x in xs:
            await refund(a=x)
"""
)
case("helper-twice-one-gate", "approval-missing")(
    """
async def pay(a):
    await refund(a=a)
@flow
async def f(a: str, b: str):
    await human_gate(f"pay {a} {b}")
    await pay(a)
    await pay(b)
"""
)
case("format-spec")(
    """
@flow
async def f(a: str, n: float):
    await human_gate(f"pay {n:.2f} to {a!r}")
    await refund(a=a, n=n)
"""
)
case("percent-format")(
    """
@flow
async def f(a: str, n: float):
    await human_gate("pay %s to %s" % (n, a))
    await refund(a=a, n=n)
"""
)
case("str.format")(
    """
@flow
async def f(a: str, n: float):
    await human_gate("pay {} to {}".format(n, a))
    await refund(a=a, n=n)
"""
)
case("payload-changed-via-alias", "approval-stale-argument")(
    """
@flow
async def f(a: str, n: float):
    p = {"a": a, "n": n}
    q = p
    await human_gate("pay?", show=p)
    q["n"] = 5
    await refund(**p)
"""
)
case("dict-update", "approval-stale-argument")(
    """
@flow
async def f(a: str, n: float):
    p = {"a": a, "n": n}
    await human_gate("pay?", show=p)
    p |= {"n": 7}
    await refund(**p)
"""
)
case("del-after", "approval-stale-argument")(
    """
@flow
async def f(a: list[str]):
    await human_gate("pay?", show=a)
    del a[0]
    await refund(a=a)
"""
)
case("global-rebind", "approval-stale-argument")(
    """
LIMIT = 5
def raise_limit():
    global LIMIT
    LIMIT = 500
@flow
def f(a: str):
    human_gate(f"pay {a} {LIMIT}")
    raise_limit()
    refund(a=a, n=LIMIT)
"""
)
case("contextmanager-swallow", "approval-ignored")(
    """
@contextlib.contextmanager
def quiet():
    try:
        yield
    except Exception:
        pass
@flow
def f(a: str):
    with quiet():
        human_gate(f"pay {a}")
    refund(a=a)
"""
)
case("contextmanager-gate-inside")(
    """
@contextlib.contextmanager
def approved(q):
    human_gate(q)
    yield
@flow
def f(a: str):
    with approved(f"pay {a}"):
        refund(a=a)
"""
)
case("decorator-that-gates")(
    """
def with_approval(fn):
    @functools.wraps(fn)
    async def inner(a: str):
        await human_gate(f"pay {a}?")
        return await fn(a)
    return inner
@flow
@with_approval
async def f(a: str):
    await refund(a=a)
"""
)
case("match-approval-class")(
    """
from keel import Approval
@flow
async def f(a: str):
    match await human_gate(f"pay {a}", on_reject="return"):
        case Approval(approved=True):
            await refund(a=a)
        case _:
            return None
"""
)
case("while-true-try-gate-break-else")(
    """
@flow
def f(a: str):
    while True:
        try:
            human_gate(f"pay {a}")
        except ApprovalDenied:
            continue
        break
    refund(a=a)
"""
)
case("not-awaited-gate-helper", "not-awaited", "approval-missing")(
    """
async def ask(a):
    await human_gate(f"pay {a}")
@flow
async def f(a: str):
    ask(a)
    await refund(a=a)
"""
)
case("instance-method")(
    """
class Desk:
    def __init__(self, t):
        self.t = t
    async def go(self, a):
        await human_gate(f"pay {a}?")
        await self.t(a=a)
@flow
async def f(a: str):
    d = Desk(refund)
    await d.go(a)
"""
)
case("instance-method-ungated", "approval-missing")(
    """
class Desk:
    def __init__(self, t):
        self.t = t
    async def go(self, a):
        await self.t(a=a)
@flow
async def f(a: str):
    d = Desk(refund)
    await d.go(a)
"""
)
case("tool-passed-to-project-helper", "approval-missing")(
    """
async def run(t, a):
    return await t(a=a)
@flow
async def f(a: str):
    await run(get, a)
    await run(refund, a)
"""
)
case("loop-over-tools-literal", "approval-missing")(
    """
@flow
async def f(a: str):
    for t in (get, refund):
        await t(a=a)
"""
)
case("walrus-and")(
    """
@flow
async def f(a: str):
    if (ok := await human_gate(f"pay {a}", on_reject="return")) and ok.by != "x":
        await refund(a=a)
"""
)
case("ok-reason-arg")(
    """
@flow
async def f(a: str):
    ok = await human_gate(f"pay {a}", on_reject="return")
    if ok:
        await refund(a=a, reason=ok.comment)
"""
)
case("ternary-not")(
    """
@flow
async def f(a: str):
    ok = await human_gate(f"pay {a}", on_reject="return")
    return None if not ok else await refund(a=a)
"""
)
case("except-exc-reraise")(
    """
@flow
async def f(a: str):
    try:
        await human_gate(f"pay {a}")
    except ApprovalDenied as e:
        raise RuntimeError("no") from e
    await refund(a=a)
"""
)
case("outer-try-swallow", "approval-ignored")(
    """
@flow
async def f(a: str):
    try:
        try:
            await human_gate(f"pay {a}")
        except ValueError:
            return
    except Exception:
        print("x")
    await refund(a=a)
"""
)
case("finally-continue", "approval-ignored")(
    """
@flow
def f(a: str):
    for _ in range(2):
        try:
            human_gate(f"pay {a}")
        finally:
            continue
    refund(a=a)
"""
)
case("star-exc", "approval-ignored")(
    """
@flow
async def f(a: str):
    try:
        async with asyncio.TaskGroup() as tg:
            tg.create_task(human_gate(f"pay {a}"))
    except* ApprovalDenied:
        pass
    await refund(a=a)
"""
)
case("nested-function-called")(
    """
@flow
async def f(a: str):
    async def confirm():
        await human_gate(f"pay {a}?")
    await confirm()
    await refund(a=a)
"""
)
case("counter-arg-after-gate-pure")(
    """
@flow
async def f(a: str, n: float):
    await human_gate(f"pay {n} to {a}?")
    cents = int(n * 100)
    await refund(a=a, n=cents)
"""
)
case("uuid-after-gate", "approval-stale-argument")(
    """
import uuid
@flow
async def f(a: str):
    await human_gate(f"pay {a}?")
    await refund(a=a, key=str(uuid.uuid4()))
"""
)
case("ignoring-by-or-True", "approval-ignored")(
    """
@flow
async def f(a: str):
    ok = await human_gate(f"pay {a}?", on_reject="return")
    if ok or True:
        await refund(a=a)
"""
)
case("not-not")(
    """
@flow
async def f(a: str):
    ok = await human_gate(f"pay {a}?", on_reject="return")
    if not (not ok):
        await refund(a=a)
"""
)
case("is-not-None", "approval-ignored")(
    """
@flow
async def f(a: str):
    ok = await human_gate(f"pay {a}?", on_reject="return")
    if ok is not None:
        await refund(a=a)
"""
)
case("approved==False")(
    """
@flow
async def f(a: str):
    ok = await human_gate(f"pay {a}?", on_reject="return")
    if ok.approved == False:
        return
    await refund(a=a)
"""
)
case("dict-of-answers", "approval-ignored")(
    """
@flow
async def f(a: str):
    d = {"x": await human_gate(f"pay {a}?", on_reject="return")}
    if d:
        await refund(a=a)
"""
)
case("tuple-unpack-gather-ok")(
    """
@flow
async def f(a: str):
    ok, x = await asyncio.gather(human_gate(f"pay {a}?", on_reject="return"), get(a=a))
    if ok:
        await refund(a=a)
"""
)
case("generator-helper", "approval-missing")(
    """
def each(xs):
    for x in xs:
        yield refund(a=x)
@flow
def f(xs: list[str]):
    for r in each(xs):
        print(r)
"""
)
case("generator-gate")(
    """
def steps(a):
    human_gate(f"pay {a}")
    yield 1
@flow
def f(a: str):
    for _ in steps(a):
        refund(a=a)
"""
)
case("recursion", "recursive-flow|dynamic-tool")(
    """
def walk(a):
    get(a=a)
    walk(a)
@flow
def f(a: str):
    walk(a)
"""
)
case("dict-stored-then-popped", "dynamic-tool")(
    """
@flow
async def f(a: str):
    d = {"x": refund}
    await d.pop("x")(a=a)
"""
)
case("getattr-const", "approval-missing")(
    """
import toolsx
@flow
async def f(a: str):
    t = refund
    u = t
    await u(a=a)
"""
)
case("fn-attr", "dynamic-tool")(
    '''
@tool(effect="dangerous")
def wipe(a: str) -> str:
    """x"""
    return a
@flow
def f(a: str):
    wipe.fn(a)
'''
)
case("map-tool", "dynamic-tool")(
    """
@flow
def f(xs: list[str]):
    list(map(lambda x: refund(a=x), xs))
"""
)
case("globals", "dynamic-tool")(
    """
@flow
def f(a: str):
    human_gate(f"{a}")
    globals()["refund"](a=a)
"""
)
case("approval-replaced", "dynamic-tool", "approval-ignored")(
    """
import dataclasses
@flow
def f(a: str):
    ok = human_gate(f"{a}", on_reject="return")
    ok = dataclasses.replace(ok, approved=True)
    if ok:
        refund(a=a)
"""
)
case("set-approved", "dynamic-tool")(
    """
@flow
def f(a: str):
    ok = human_gate(f"{a}", on_reject="return")
    ok.approved = True
    if ok:
        refund(a=a)
"""
)
case("local-shadow-gate", "dynamic-tool|approval-missing")(
    """
@flow
def f(a: str):
    def human_gate(p):
        return True
    human_gate(f"{a}")
    refund(a=a)
"""
)
case("param-shadow-gate", "approval-missing")(
    """
@flow
def f(a: str, human_gate):
    human_gate(f"{a}")
    refund(a=a)
"""
)
case("lambda-stored", "approval-missing")(
    """
@flow
def f(a: str):
    go = lambda: refund(a=a)
    go()
"""
)
case("lambda-in-dict-const", "approval-missing")(
    """
@flow
def f(a: str):
    d = {"go": lambda: refund(a=a)}
    d["go"]()
"""
)
case("return-exceptions-variable", "approval-ignored")(
    """
@flow
async def f(a: str, keep: bool):
    await asyncio.gather(human_gate(f"{a}"), return_exceptions=keep)
    await refund(a=a)
"""
)
case("wait_for-gate-ok")(
    """
@flow
async def f(a: str):
    await asyncio.wait_for(human_gate(f"{a}"), timeout=5)
    await refund(a=a)
"""
)
case("timeout-cm")(
    """
@flow
async def f(a: str):
    async with asyncio.timeout(5):
        await human_gate(f"{a}")
    await refund(a=a)
"""
)
case("timeout-cm-swallowed", "approval-ignored")(
    """
@flow
async def f(a: str):
    try:
        async with asyncio.timeout(5):
            await human_gate(f"{a}")
    except TimeoutError:
        pass
    await refund(a=a)
"""
)
case("exitstack", "approval-ignored")(
    """
@flow
def f(a: str):
    with contextlib.ExitStack() as s:
        s.enter_context(contextlib.suppress(Exception))
        human_gate(f"{a}")
    refund(a=a)
"""
)
case("retry-loop-dangerous", "retry-not-admitted")(
    """
@flow
def f(a: str):
    human_gate(f"{a}")
    for _ in range(3):
        try:
            return refund(a=a)
        except Exception:
            pass
"""
)
case("agent-in-race-etc", "race-not-admitted")(
    """
@flow
async def f(a: str):
    async def both():
        await note(a=a)
    await race(both(), get(a=a))
"""
)
case("nested-gather", "approval-missing")(
    """
@flow
async def f(a: str):
    async def one():
        await human_gate(f"{a}")
    async def two():
        await refund(a=a)
    await asyncio.gather(one(), two())
"""
)
case("gather-inside-helper-then-call")(
    """
@flow
async def f(a: str):
    async def one():
        await human_gate(f"{a}")
    await asyncio.gather(one(), get(a=a))
    await refund(a=a)
"""
)
case("approvals-counter", "approval-ignored")(
    """
@flow
async def f(a: str):
    n = 0
    for who in ("x", "y", "z"):
        if await human_gate(f"{who} {a}", on_reject="return"):
            n += 1
    if n >= 2:
        await refund(a=a)
"""
)
case("early-return-loops")(
    """
@flow
async def f(a: str):
    for who in ("x", "y"):
        if not await human_gate(f"{who} {a}", on_reject="return"):
            return
    await refund(a=a)
"""
)
case("flow-via-agent", "approval-missing")(
    """
@flow(entry=False)
async def inner(a: str):
    await refund(a=a)
bot = Agent("bot", "m", "x", tools=[inner])
@flow
async def f(a: str):
    await human_gate(f"{a}")
    await inner(a)
    await bot(a)
"""
)
case("eval-in-unrelated-function", "dynamic-tool")(
    """
def calc(x):
    return eval(x)
@flow
def f(a: str):
    get(a=calc(a))
"""
)
case("conditional-def", "dynamic-tool|approval-missing")(
    """
import sys
if sys.platform == "x":
    def go(a):
        return get(a=a)
else:
    def go(a):
        return refund(a=a)
@flow
def f(a: str):
    go(a)
"""
)
case("module-list-append", "dynamic-tool")(
    """
T = []
T.append(refund)
@flow
def f(a: str):
    T[0](a=a)
"""
)
case("module-dict-const-key", "approval-missing")(
    """
T = {"r": refund, "g": get}
@flow
def f(a: str):
    T["g"](a=a)
    T["r"](a=a)
"""
)
case("setdefault-default-dict", "dynamic-tool")(
    """
@flow
def f(a: str, k: str):
    T = {}
    T[k] = refund
    T[k](a=a)
"""
)
case("class-attr-assigned-later", "dynamic-tool|approval-missing")(
    """
class D:
    t = get
D.t = refund
@flow
def f(a: str):
    D.t(a=a)
"""
)
case("loop-changes-tool", "dynamic-tool")(
    """
@flow
def f(xs: list[str]):
    act = get
    for x in xs:
        act(a=x)
        act = refund
"""
)
case("loop-var-act-none", "dynamic-tool")(
    """
@flow
def f(xs: list[str]):
    act = None
    for x in xs:
        if act:
            act(a=x)
        act = refund
"""
)
case("while-pending-task-ok")(
    """
@flow
async def f(xs: list[str]):
    for x in xs:
        t = asyncio.create_task(get(a=x))
        await t
"""
)
case("default-arg-tool", "approval-missing")(
    """
def go(a, t=refund):
    return t(a=a)
@flow
def f(a: str):
    go(a)
"""
)
case("kwargs-call-helper", "approval-missing")(
    """
def go(**kw):
    return refund(**kw)
@flow
def f(a: str):
    go(a=a)
"""
)
case("star-import-order", "approval-missing")(
    """
def deco(fn):
    def inner(*a, **k):
        return fn(*a, **k)
    return inner
@deco
def go(a):
    return refund(a=a)
@flow
def f(a: str):
    go(a)
"""
)
case("lru_cache-helper", "dynamic-tool")(
    """
@functools.lru_cache
def look(a):
    return get(a=a)
@flow
def f(a: str):
    look(a)
"""
)
case("unknown-decorator", "dynamic-tool")(
    """
import third
@third.wrap
def look(a):
    return get(a=a)
@flow
def f(a: str):
    look(a)
"""
)
case("singledispatch-etc-property", "dynamic-tool|approval-missing")(
    """
class S:
    def __init__(self, a): self.a = a
    def __del__(self): refund(a=self.a)
@flow
def f(a: str):
    s = S(a)
"""
)
case("super", "approval-missing|dynamic-tool")(
    """
class A:
    def __init__(self, a): refund(a=a)
class B(A):
    def __init__(self, a): super().__init__(a)
@flow
def f(a: str):
    B(a)
"""
)
case("async-comprehension", "approval-missing")(
    """
@flow
async def f(xs: list[str]):
    return [await refund(a=x) for x in xs]
"""
)
case("async-gen-for", "approval-missing")(
    """
async def each(xs):
    for x in xs:
        yield await refund(a=x)
@flow
async def f(xs: list[str]):
    async for r in each(xs):
        pass
"""
)
case("gate-value-in-f-string-of-helper")(
    """
def q(a, n):
    return f"pay {n} to {a}?"
@flow
def f(a: str, n: int):
    human_gate(q(a, n), show=[a, n])
    refund(a=a, n=n)
"""
)
case("json-dumps-show")(
    """
import json
@flow
def f(a: str, n: int):
    p = {"a": a, "n": n}
    human_gate(json.dumps(p))
    refund(**p)
"""
)
case("walrus-chain-while")(
    """
@flow
def f(a: str):
    while not (ok := human_gate(f"{a}", on_reject="return")):
        print("again")
    refund(a=a)
"""
)
case("loop-until-max-then-return")(
    """
@flow
def f(a: str):
    tries = 0
    while not human_gate(f"{a}", on_reject="return"):
        tries += 1
        if tries > 3:
            return
    refund(a=a)
"""
)
case("match-guard")(
    """
@flow
def f(a: str):
    match human_gate(f"{a}", on_reject="return"):
        case ok if ok.approved:
            refund(a=a)
"""
)
case("match-case-true-of-approval-itself", "approval-ignored")(
    """
@flow
def f(a: str):
    match human_gate(f"{a}", on_reject="return"):
        case False:
            return
        case _:
            refund(a=a)
"""
)
case("gate-in-subflow-race", "race-not-admitted")(
    """
@flow
async def g(a: str):
    await human_gate(f"x {a}")
    return await get(a=a)
@flow
async def f(a: str):
    return await race(g(a), get(a=a))
"""
)
case("shadowed-builtin-all", "approval-ignored")(
    """
def all(x):
    return True
@flow
async def f(a: str):
    x = await human_gate(f"1 {a}", on_reject="return")
    if all([x]):
        await refund(a=a)
"""
)
case("approvals-in-list-indexing")(
    """
@flow
async def f(a: str):
    oks = [await human_gate(f"1 {a}", on_reject="return"), 1]
    if oks[0]:
        await refund(a=a)
"""
)
case("list-replaced", "approval-ignored")(
    """
@flow
async def f(a: str):
    oks = [await human_gate(f"1 {a}", on_reject="return")]
    oks[0] = True
    if oks[0]:
        await refund(a=a)
"""
)
case("list-replaced-loop", "approval-ignored|approval-missing")(
    """
@flow
async def f(a: str):
    oks = [await human_gate(f"1 {a}", on_reject="return")]
    for _ in range(2):
        if oks[0]:
            await refund(a=a)
        oks[0] = True
"""
)
case("dict-replaced-alias", "approval-ignored")(
    """
@flow
async def f(a: str):
    d = {"ok": await human_gate(f"1 {a}", on_reject="return")}
    e = d
    e["ok"] = True
    if d["ok"]:
        await refund(a=a)
"""
)
case("instance-attr-replaced", "approval-ignored|dynamic-tool")(
    """
class S:
    def __init__(self, t):
        self.t = t
        self.ok = None
@flow
async def f(a: str):
    s = S(refund)
    s.ok = await human_gate(f"1 {a}", on_reject="return")
    s.ok = True
    if s.ok:
        await s.t(a=a)
"""
)
case("instance-attr-in-branch", "approval-ignored|approval-missing")(
    """
class S:
    def __init__(self, t):
        self.t = t
        self.ok = False
@flow
async def f(a: str, x: bool):
    s = S(refund)
    if x:
        s.ok = await human_gate(f"1 {a}", on_reject="return")
    else:
        s.ok = True
    if s.ok:
        await s.t(a=a)
"""
)
case("instance-attr-branch-order", "approval-ignored|approval-missing")(
    """
class S:
    def __init__(self, t):
        self.t = t
        self.ok = False
@flow
async def f(a: str, x: bool):
    s = S(refund)
    if x:
        s.ok = True
    else:
        s.ok = await human_gate(f"1 {a}", on_reject="return")
    if s.ok:
        await s.t(a=a)
"""
)
case("table-in-branch", "approval-ignored|approval-missing")(
    """
@flow
async def f(a: str, x: bool):
    d = {"ok": False}
    if x:
        d["ok"] = True
    else:
        d["ok"] = await human_gate(f"1 {a}", on_reject="return")
    if d["ok"]:
        await refund(a=a)
"""
)
case("instance-tool-swapped-in-branch", "approval-missing|dynamic-tool")(
    """
class S:
    def __init__(self, t):
        self.t = t
@flow
async def f(a: str, x: bool):
    s = S(get)
    if x:
        s.t = refund
    await s.t(a=a)
"""
)
case("instance-arg-stale", "approval-stale-argument")(
    """
class S:
    def __init__(self, t, n):
        self.t = t
        self.n = n
@flow
async def f(a: str, n: int):
    s = S(refund, n)
    await human_gate(f"{s.n} {a}")
    s.n = 900
    await s.t(a=a, n=s.n)
"""
)
case("table-tool-replaced-branch", "approval-missing|dynamic-tool")(
    """
@flow
async def f(a: str, x: bool):
    d = {"t": get}
    if x:
        d["t"] = refund
    await d["t"](a=a)
"""
)
case("table-tool-back", "approval-missing|dynamic-tool")(
    """
@flow
async def f(a: str, x: bool):
    d = {"t": refund}
    if x:
        d["t"] = get
    await d["t"](a=a)
"""
)
case("instance-tool-back", "approval-missing|dynamic-tool")(
    """
class S:
    def __init__(self, t):
        self.t = t
@flow
async def f(a: str, x: bool):
    s = S(refund)
    if x:
        s.t = get
    await s.t(a=a)
"""
)


@pytest.mark.parametrize(("name", "wanted", "text"), CASES, ids=[name for name, _, _ in CASES])
def test_case(name, wanted, text):
    found = errors(text)
    if any("|" in code for code in wanted):
        assert all(set(code.split("|")) & found for code in wanted), found
    else:
        assert found == wanted
