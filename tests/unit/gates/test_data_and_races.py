"""Untrusted and classified data, retries, parallel writes and races, in many spellings."""

import pytest

from keel.core.finding import Severity
from keel.core.model import DataClass, Effect, Grant, Idempotency, Manifest, ServerSpec, Transport, Trust
from tests.unit.gates.harness import HEADER, PAY, judge

MORE = (
    HEADER
    + """page = mcp_tool("web", "page")
mail = mcp_tool("web", "mail")
crm = mcp_tool("crm", "read")
pub = mcp_tool("pub", "post")
reserve = mcp_tool("pay", "reserve")
bot = Reasoner("bot", "m:x", "sys")
"""
)
MANIFEST = Manifest(
    file="keel.yaml",
    servers=(
        *(ServerSpec(name, Transport.SURFACE) for name in ("pay", "web", "crm")),
        ServerSpec("pub", Transport.SURFACE, max_data_class=DataClass.PUBLIC),
    ),
    tools=(
        *(PAY.tools or ()),
        Grant("web/page", Effect.READ, Idempotency.NATIVE, returns=Trust.UNTRUSTED),
        Grant("web/mail", Effect.EXTERNAL, Idempotency.NONE),
        Grant("crm/read", Effect.READ, Idempotency.NATIVE, data_class=DataClass.CONFIDENTIAL),
        Grant("pub/post", Effect.WRITE, Idempotency.NONE),
        Grant("pay/reserve", Effect.WRITE, Idempotency.REQUIRED),
    ),
)


def found(text):
    """Return the errors of a module, and the one warning that belongs to the subject."""
    findings = judge(text, manifest=MANIFEST, header=MORE)
    return {item.code for item in findings if item.severity is Severity.ERROR or item.code == "parallel-writes"}


CASES: list[tuple[str, set[str], str]] = []


def case(name: str, *codes: str):
    """Note a case; several codes joined with `|` are as right."""
    return lambda text: CASES.append((name, set(codes), text))


case("taint-via-list-append", "untrusted-flow")(
    r"""
@flow
async def f(u: list[str], to: str):
    out = []
    for x in u:
        p = await page(url=x)
        out.append(p["t"])
    await mail(to=to, body="\n".join(out))
"""
)
case("taint-via-dict", "untrusted-flow")(
    """
@flow
async def f(u: str, to: str):
    d = {}
    d["x"] = (await page(url=u))["t"]
    await mail(to=to, body=d["x"])
"""
)
case("taint-via-helper-attr", "untrusted-flow")(
    """
class Box:
    def __init__(self, v): self.v = v
@flow
async def f(u: str, to: str):
    b = Box((await page(url=u))["t"])
    await mail(to=to, body=b.v)
"""
)
case("taint-cleared-by-gate")(
    """
@flow
async def f(u: str, to: str):
    p = await page(url=u)
    await human_gate(f"send {p['t']} to {to}")
    await mail(to=to, body=p["t"])
"""
)
case("taint-cleared-whole")(
    """
@flow
async def f(u: str, to: str):
    p = await page(url=u)
    ok = await human_gate("send?", show={"p": p, "to": to}, on_reject="return")
    if ok:
        await mail(to=to, body=p["t"].strip(), subject=p["s"])
"""
)
case("taint-gate-ignored", "untrusted-flow")(
    """
@flow
async def f(u: str, to: str):
    p = await page(url=u)
    await human_gate("send?", show={"p": p, "to": to}, on_reject="return")
    await mail(to=to, body=p["t"])
"""
)
case("taint-len-shown-only", "untrusted-flow")(
    """
@flow
async def f(u: str, to: str):
    p = await page(url=u)
    await human_gate(f"send {len(p['t'])} characters to {to}")
    await mail(to=to, body=p["t"])
"""
)
case("taint-control-only")(
    """
@flow
async def f(u: str, to: str):
    p = await page(url=u)
    if "x" in p["t"]:
        await mail(to=to, body="found x")
"""
)
case("taint-helper-shared-clean")(
    """
def norm(t):
    return t.strip().lower()
@flow
async def f(u: str, to: str):
    p = await page(url=u)
    await note(a=norm(p["t"]))
    await mail(to=to, body=norm(to))
"""
)
case("taint-tool-helper-shared")(
    """
async def send(to, body):
    await mail(to=to, body=body)
@flow
async def f(u: str, to: str):
    p = await page(url=u)
    await note(a=p["t"])
    await send(to, "hi")
"""
)
case("taint-tool-helper", "untrusted-flow")(
    """
async def send(to, body):
    await mail(to=to, body=body)
@flow
async def f(u: str, to: str):
    p = await page(url=u)
    await send(to, p["t"])
"""
)
case("taint-gather", "untrusted-flow")(
    """
@flow
async def f(u: str, to: str):
    p, q = await asyncio.gather(page(url=u), get(a=u))
    await mail(to=to, body=p["t"])
"""
)
case("taint-gather-other")(
    """
@flow
async def f(u: str, to: str):
    p, q = await asyncio.gather(page(url=u), get(a=u))
    await mail(to=to, body=q["t"])
"""
)
case("taint-race", "untrusted-flow")(
    """
@flow
async def f(u: str, to: str):
    p = await race(page(url=u), get(a=u))
    await mail(to=to, body=p["t"])
"""
)
case("taint-task", "untrusted-flow")(
    """
@flow
async def f(u: str, to: str):
    t = asyncio.create_task(page(url=u))
    await get(a=u)
    p = await t
    await mail(to=to, body=p["t"])
"""
)
case("taint-taskgroup-result", "untrusted-flow")(
    """
@flow
async def f(u: str, to: str):
    async with asyncio.TaskGroup() as tg:
        t = tg.create_task(page(url=u))
    await mail(to=to, body=t.result()["t"])
"""
)
case("taint-comp", "untrusted-flow")(
    """
@flow
async def f(us: list[str], to: str):
    ps = [await page(url=u) for u in us]
    await mail(to=to, body=ps[0]["t"])
"""
)
case("taint-opaque-lib", "untrusted-flow")(
    """
import third
@flow
async def f(u: str, to: str):
    p = await page(url=u)
    await mail(to=to, body=third.render(p))
"""
)
case("taint-while-carried", "untrusted-flow")(
    """
@flow
async def f(us: list[str], to: str):
    last = ""
    for u in us:
        await mail(to=to, body=last)
        last = (await page(url=u))["t"]
"""
)
case("taint-f-string-then-overwritten")(
    """
@flow
async def f(u: str, to: str):
    t = (await page(url=u))["t"]
    await note(a=t)
    t = "fixed"
    await mail(to=to, body=t)
"""
)
case("taint-augment", "untrusted-flow")(
    """
@flow
async def f(u: str, to: str):
    t = "x: "
    t += (await page(url=u))["t"]
    await mail(to=to, body=t)
"""
)
case("taint-global", "untrusted-flow")(
    """
CACHE = {}
@flow
async def f(u: str, to: str):
    CACHE["x"] = (await page(url=u))["t"]
    await mail(to=to, body=CACHE["x"])
"""
)
case("taint-closure", "untrusted-flow")(
    """
@flow
async def f(u: str, to: str):
    t = ""
    async def load():
        nonlocal t
        t = (await page(url=u))["t"]
    await load()
    await mail(to=to, body=t)
"""
)
case("taint-gated")(
    """
@flow
async def f(u: str, to: str):
    p = await page(url=u)
    await gated(mail)(to=to, body=p["t"])
"""
)
case("taint-url-arg-to-read-ok")(
    """
@flow
async def f(u: str, to: str):
    p = await page(url=u)
    await page(url=p["next"])
"""
)
case("class-through-think", "data-class-exceeded")(
    """
@flow
async def f(c: str):
    x = await crm(a=c)
    t = await think(bot, x)
    await pub(text=t)
"""
)
case("class-through-mutate-helper", "data-class-exceeded")(
    """
def add(d, x):
    d["name"] = x["name"]
@flow
async def f(c: str):
    x = await crm(a=c)
    d = {}
    add(d, x)
    await pub(text=d)
"""
)
case("class-control")(
    """
@flow
async def f(c: str):
    x = await crm(a=c)
    if x["vip"]:
        await pub(text="vip")
"""
)
case("retry-while", "retry-not-admitted")(
    """
@flow
async def f(a: str):
    while True:
        try:
            await note(a=a)
            return
        except Exception:
            await asyncio.sleep(1)
"""
)
case("retry-helper", "retry-not-admitted")(
    """
async def attempt(fn, *args, **kw):
    for _ in range(3):
        try:
            return await fn(*args, **kw)
        except Exception:
            pass
@flow
async def f(a: str):
    await attempt(note, a=a)
"""
)
case("retry-suppress", "retry-not-admitted")(
    """
@flow
async def f(a: str):
    for _ in range(3):
        with contextlib.suppress(Exception):
            await note(a=a)
            break
"""
)
case("retry-tenacity", "retry-not-admitted")(
    """
from tenacity import retry, stop_after_attempt
@retry(stop=stop_after_attempt(3))
async def push(a):
    await note(a=a)
@flow
async def f(a: str):
    await push(a)
"""
)
case("retry-tenacity-read")(
    """
from tenacity import retry, stop_after_attempt
@retry(stop=stop_after_attempt(3))
async def pull(a):
    return await get(a=a)
@flow
async def f(a: str):
    await pull(a)
"""
)
case("per-item-error-tolerated")(
    """
@flow
async def f(xs: list[str]):
    for x in xs:
        try:
            await note(a=x)
        except Exception:
            continue
"""
)
case("fallback-other-tool")(
    """
@flow
async def f(a: str):
    try:
        return await note(a=a)
    except Exception:
        return await mail(to="x", body=a)
"""
)
case("retry-exhausted-raise", "retry-not-admitted")(
    """
@flow
async def f(a: str):
    for n in range(3):
        try:
            return await note(a=a)
        except Exception:
            if n == 2:
                raise
"""
)
case("retries-zero")(
    """
@flow
async def f(a: str):
    await note.options(retries=0)(a=a)
"""
)
case("retries-var", "retry-not-admitted")(
    """
@flow
async def f(a: str, n: int):
    await note.options(retries=n)(a=a)
"""
)
case("parallel-different-literal")(
    """
@flow
async def f():
    await asyncio.gather(note(a="x"), note(a="y"))
"""
)
case("parallel-same-var", "parallel-writes")(
    """
@flow
async def f(a: str, b: str):
    await asyncio.gather(note(a=a), note(a=b))
"""
)
case("parallel-taskgroup", "parallel-writes")(
    """
@flow
async def f(xs: list[str]):
    async with asyncio.TaskGroup() as tg:
        for x in xs:
            tg.create_task(note(a=x))
"""
)
case("parallel-in-helper", "parallel-writes")(
    """
async def one(a):
    await note(a=a)
@flow
async def f(a: str, b: str):
    await asyncio.gather(one(a), one(b))
"""
)
case("parallel-seq-helper-loop")(
    """
async def many(xs):
    for x in xs:
        await note(a=x)
@flow
async def f(xs: list[str], a: str):
    await asyncio.gather(many(xs), get(a=a))
"""
)
case("race-reserve-ok")(
    """
@flow
async def f(a: str):
    await race(reserve(a=a), get(a=a))
"""
)
case("race-unawaited-var")(
    """
@flow
async def f(a: str):
    x = get(a=a)
    y = get(a=a + "1")
    return await race(x, y)
"""
)
case("race-opaque-branch", "dynamic-tool")(
    """
@flow
async def f(a: str):
    return await race(get(a=a), asyncio.sleep(1))
"""
)
case("quorum-bad-k", "invalid-option")(
    """
@flow
async def f(a: str):
    return await quorum(get(a=a), get(a=a), k=3)
"""
)
case("hedge-missing", "invalid-option")(
    """
@flow
async def f(a: str):
    return await hedge(get(a=a), get(a=a))
"""
)
case("race-subflow-reads")(
    """
@flow(entry=False)
async def g(a: str):
    return await get(a=a)
@flow
async def f(a: str):
    return await race(g(a), get(a=a))
"""
)
case("race-think")(
    """
@flow
async def f(a: str):
    return await race(think(bot, a), get(a=a))
"""
)


@pytest.mark.parametrize(("name", "wanted", "text"), CASES, ids=[name for name, _, _ in CASES])
def test_case(name, wanted, text):
    assert found(text) == wanted
