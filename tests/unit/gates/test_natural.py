"""Flows as people write them: most are clean, and the few that are not are near misses of one that is."""

import pytest

from tests.unit.gates.harness import errors as found

CASES: list[tuple[str, set[str], str]] = []


def case(name: str, *codes: str):
    """Note a case; several codes joined with `|` are as right."""
    return lambda text: CASES.append((name, set(codes), text))


case("logging-dict")(
    """
import logging
log = logging.getLogger("x")
@flow
async def f(a: str, n: float):
    p = {"a": a, "n": n}
    await human_gate("pay?", show=p)
    log.info("paying %s", p)
    print(p)
    r = await refund(**p)
    log.info("done %s", r["id"])
    return r
"""
)
case("dataclass-order-shown")(
    """
from dataclasses import dataclass, asdict
@dataclass
class Order:
    a: str
    n: float
@flow
async def f(a: str, n: float):
    o = Order(a=a, n=n)
    await human_gate("pay?", show=asdict(o))
    await refund(a=o.a, n=o.n)
"""
)
case("dataclass-mutated", "approval-stale-argument")(
    """
from dataclasses import dataclass, asdict
@dataclass
class Order:
    a: str
    n: float
@flow
async def f(a: str, n: float):
    o = Order(a=a, n=n)
    await human_gate("pay?", show=asdict(o))
    o.n = 500
    await refund(a=o.a, n=o.n)
"""
)
case("result-get")(
    """
@flow
async def f(a: str):
    hit = await get(a=a)
    amount = hit.get("amount", 0)
    if amount <= 0:
        return None
    await human_gate(f"pay {amount} on {hit['id']}")
    return await refund(a=hit["id"], n=amount)
"""
)
case("loop-try-continue-per-item")(
    """
@flow
async def f(xs: list[str]):
    failed = []
    for x in xs:
        try:
            await human_gate(f"pay {x}?")
            await refund(a=x)
        except ApprovalDenied:
            failed.append(x)
            continue
    return failed
"""
)
case("loop-try-except-exception-per-item")(
    """
@flow
async def f(xs: list[str]):
    done = 0
    for x in xs:
        ok = await human_gate(f"pay {x}?", on_reject="return")
        if not ok:
            continue
        try:
            await refund(a=x)
            done += 1
        except Exception as e:
            await note(a=str(e))
    return done
"""
)
case("helper-validate-then-gate")(
    """
def check(a: str) -> str:
    if not a:
        raise ValueError("empty")
    return a.strip()
@flow
async def f(a: str):
    a = check(a)
    await human_gate(f"pay {a}?")
    await refund(a=a)
"""
)
case("notify-after-denial")(
    """
@flow
async def f(a: str):
    try:
        await human_gate(f"pay {a}?")
    except ApprovalDenied as denial:
        await note(a=a, reason=str(denial))
        raise
    await refund(a=a)
"""
)
case("dict-comprehension-batch-shown")(
    """
@flow
async def f(xs: list[str]):
    plan = {x: await get(a=x) for x in xs}
    await human_gate("apply?", show=plan)
    for x, hit in plan.items():
        await refund(a=x, n=hit["amount"])
"""
)
case("filtered-after-gate-pure")(
    """
@flow
async def f(xs: list[str]):
    await human_gate("apply?", show=xs)
    for x in [y for y in xs if y]:
        await refund(a=x)
"""
)
case("filtered-by-fresh", "approval-stale-argument")(
    """
@flow
async def f(xs: list[str]):
    await human_gate("apply?", show=xs)
    good = [y for y in xs if (await get(a=y))["ok"]]
    for x in good:
        await refund(a=x)
"""
)
case("zip-shown")(
    """
@flow
async def f(xs: list[str], ys: list[int]):
    await human_gate("apply?", show={"x": xs, "y": ys})
    for x, y in zip(xs, ys):
        await refund(a=x, n=y)
"""
)
case("helper-with-gate-result-tuple")(
    """
async def ask(a):
    ok = await human_gate(f"pay {a}", on_reject="return")
    return ok, a
@flow
async def f(a: str):
    ok, b = await ask(a)
    if ok:
        await refund(a=b)
"""
)
case("semaphore-lock")(
    """
lock = asyncio.Semaphore(2)
@flow
async def f(xs: list[str]):
    async def one(x):
        async with lock:
            return await get(a=x)
    return await asyncio.gather(*(one(x) for x in xs))
"""
)
case("as-completed", "dynamic-tool")(
    """
@flow
async def f(xs: list[str]):
    for c in asyncio.as_completed([get(a=x) for x in xs]):
        await c
"""
)
case("enum-const")(
    """
from enum import Enum
class Kind(Enum):
    A = "a"
@flow
async def f(a: str):
    await human_gate(f"pay {a}")
    await refund(a=a, kind=Kind.A.value)
"""
)
case("gated-with-options")(
    """
@flow
async def f(a: str):
    await gated(refund).options(timeout_s=5)(a=a)
"""
)
case("gated-alias")(
    """
pay = gated(refund)
@flow
async def f(a: str):
    await pay(a=a)
"""
)
case("nested-flows")(
    """
@flow(entry=False)
async def inner(a: str):
    await human_gate(f"pay {a}")
    await refund(a=a)
@flow
async def f(a: str):
    return await inner(a)
"""
)
case("type-checking-import")(
    """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from third import Thing
@flow
async def f(a: "Thing"):
    await get(a=a)
"""
)
case("try-import")(
    """
try:
    import orjson as json
except ImportError:
    import json
@flow
async def f(a: str):
    return json.dumps(await get(a=a))
"""
)
case("local-import")(
    """
@flow
async def f(a: str):
    import json
    return json.dumps(await get(a=a))
"""
)
case("annotated-approval-type")(
    """
async def ask(a: str) -> Approval:
    return await human_gate(f"pay {a}", on_reject="return")
@flow
async def f(a: str):
    ok: Approval = await ask(a)
    if not ok:
        return
    await refund(a=a)
"""
)
case("isinstance-approval")(
    """
@flow
async def f(a: str):
    ok = await human_gate(f"pay {a}", on_reject="return")
    assert isinstance(ok, Approval)
    if ok:
        await refund(a=a)
"""
)
case("counter-retries-helper")(
    """
@flow
async def f(a: str):
    await human_gate(f"pay {a}")
    start = 0
    total = start + 1
    await refund(a=a, n=total)
"""
)
case("deepcopy")(
    """
import copy
@flow
async def f(a: dict):
    p = copy.deepcopy(a)
    await human_gate("pay", show=p)
    await refund(a=p)
"""
)
case("str-subset")(
    """
@flow
async def f(a: str):
    head, _, tail = a.partition(":")
    await human_gate(f"pay {head} {tail}")
    await refund(a=head, b=tail)
"""
)
case("two-gates-two-values")(
    """
@flow
async def f(a: str, b: str):
    await human_gate(f"first {a}")
    await human_gate(f"second {b}")
    await refund(a=a, b=b)
"""
)
case("approval-then-loop-status-wait")(
    """
@flow
async def f(a: str):
    await human_gate(f"pay {a}")
    for _ in range(5):
        if (await get(a=a))["ready"]:
            break
        await asyncio.sleep(1)
    await refund(a=a)
"""
)
case("datetime-after-gate-unused-in-call")(
    """
from datetime import datetime
@flow
async def f(a: str):
    await human_gate(f"pay {a}")
    at = datetime.now()
    r = await refund(a=a)
    return {"at": at, "r": r}
"""
)
case("class-based-service-with-gate")(
    """
class Service:
    def __init__(self, region: str) -> None:
        self.region = region
    async def close(self, a: str) -> None:
        await human_gate(f"pay {a} in {self.region}")
        await refund(a=a, region=self.region)
@flow
async def f(a: str):
    s = Service("eu")
    await s.close(a)
"""
)
case("module-instance")(
    """
class Service:
    async def close(self, a: str) -> None:
        await human_gate(f"pay {a}")
        await refund(a=a)
service = Service()
@flow
async def f(a: str):
    await service.close(a)
"""
)
case("static-and-class-methods")(
    """
class Ops:
    @staticmethod
    async def pay(a):
        await human_gate(f"pay {a}")
        await refund(a=a)
    @classmethod
    async def two(cls, a):
        await cls.pay(a)
@flow
async def f(a: str):
    await Ops.two(a)
"""
)
case("contextvar-like-with-open")(
    """
@flow
def f(a: str):
    with open("x") as fh:
        data = fh.read()
    get(a=data)
"""
)
case("async-context-own-class")(
    """
class Timer:
    async def __aenter__(self):
        return self
    async def __aexit__(self, *exc):
        print("t")
@flow
async def f(a: str):
    async with Timer():
        await human_gate(f"pay {a}")
    await refund(a=a)
"""
)
case("filter-lambda-plain")(
    """
@flow
def f(a: str):
    hits = get(a=a)["xs"]
    best = max(hits, key=lambda h: h["score"])
    human_gate(f"pay {best['id']}")
    refund(a=best["id"])
"""
)
case("walrus-in-comprehension")(
    """
@flow
def f(xs: list[str]):
    return [y for x in xs if (y := get(a=x)["v"])]
"""
)
case("defaultdict-counter")(
    """
from collections import defaultdict, Counter
@flow
def f(xs: list[str]):
    d = defaultdict(list)
    c = Counter()
    for x in xs:
        d[x].append(get(a=x))
        c[x] += 1
    note(a=dict(d), b=c.most_common(1))
"""
)
case("global-flags-constant")(
    """
DRY = False
@flow
def f(a: str):
    if DRY:
        return "dry"
    human_gate(f"pay {a}")
    return refund(a=a)
"""
)
case("kwargs-building-conditional")(
    """
@flow
async def f(a: str, memo: str | None):
    kw = {"a": a}
    if memo:
        kw["memo"] = memo
    await human_gate("pay", show=kw)
    await refund(**kw)
"""
)
case("list-built-then-shown")(
    """
@flow
async def f(xs: list[str]):
    out = []
    for x in xs:
        h = await get(a=x)
        if h["bad"]:
            out.append({"id": x, "n": h["n"]})
    await human_gate("pay", show=out)
    for o in out:
        await refund(a=o["id"], n=o["n"])
"""
)
case("while-queue-shown-pop", "approval-stale-argument")(
    """
@flow
async def f(xs: list[str]):
    await human_gate("pay", show=xs)
    while xs:
        x = xs.pop()
        await refund(a=x)
"""
)
case("elif-chain-ok")(
    """
@flow
async def f(a: str, m: str):
    ok = await human_gate(f"pay {a} {m}", on_reject="return")
    if not ok:
        return "no"
    elif m == "x":
        await refund(a=a)
    elif m == "y":
        await refund(a=a, m=m)
"""
)
case("raise-custom-when-denied")(
    """
class Refused(Exception):
    pass
@flow
async def f(a: str):
    ok = await human_gate(f"pay {a}", on_reject="return")
    if not ok.approved:
        raise Refused(ok.reason)
    await refund(a=a)
"""
)
case("race-result-arg")(
    """
@flow
async def f(a: str):
    r = await race(get(a=a), get(a=a + "b"))
    await human_gate(f"pay {r['id']}")
    await refund(a=r["id"])
"""
)
case("quorum-star-list")(
    """
@flow
async def f(a: str):
    q = await quorum(get(a=a), get(a=a), get(a=a), k=2)
    return [x["id"] for x in q]
"""
)
case("wait_for-helper")(
    """
async def ask(a):
    await human_gate(f"pay {a}")
@flow
async def f(a: str):
    await asyncio.wait_for(ask(a), 30)
    await refund(a=a)
"""
)
case("helper-raising-on-denied-return")(
    """
async def ensure(a):
    ok = await human_gate(f"pay {a}", on_reject="return")
    if not ok:
        raise PermissionError(a)
@flow
async def f(a: str):
    await ensure(a)
    await refund(a=a)
"""
)
case("try/except-around-refund-after-gate")(
    """
@flow
async def f(a: str):
    await human_gate(f"pay {a}")
    try:
        return await refund(a=a)
    except Exception as error:
        await note(a=a, text=str(error))
        return None
    finally:
        print("end")
"""
)
case("try-wraps-whole-with-denial-handled")(
    """
@flow
async def f(a: str):
    try:
        await human_gate(f"pay {a}")
        await refund(a=a)
    except ApprovalDenied:
        return "denied"
    except Exception:
        return "failed"
    return "ok"
"""
)


@pytest.mark.parametrize(("name", "wanted", "text"), CASES, ids=[name for name, _, _ in CASES])
def test_case(name, wanted, text):
    assert found(text) == wanted
