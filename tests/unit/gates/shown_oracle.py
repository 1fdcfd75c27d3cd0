"""Random programs that alias, change and pass on values, and a runtime that remembers what was shown and called.

Every piece of data is a text with a number of its own, such as `<7>`, so that whatever is made of it still tells what
it was made of and when that appeared.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import itertools
import re
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from types import CodeType
from typing import Any

from hypothesis import strategies as st

from tests.unit.gates.oracle import Answer, Denied, Stop

HEADER = """import asyncio, copy, functools, itertools
from contextlib import suppress
from dataclasses import dataclass
from keel import ApprovalDenied, flow, gated, human_gate, mcp_tool
from lab import flag, items, plain
refund = mcp_tool("pay", "refund")
"""
HELPERS = """
class Box:
    def __init__(self, v, w):
        self.v = v
        self.w = w
    def set(self, v):
        self.v = v
        return self
    def args(self):
        return {"a": self.v}
@dataclass
class Pair:
    v: str
    w: str
def ask(*vs):
    return human_gate(f"{vs}?", on_reject="return")
def must(v):
    ok = human_gate("go?", show=v, on_reject="return")
    if not ok:
        raise ValueError("no")
def may(v):
    try:
        human_gate(f"{v}?")
    except ApprovalDenied:
        return False
    return True
def pay(v):
    return refund(a=v)
def pay_all(vs):
    for v in vs:
        refund(a=v)
def star(*vs, **more):
    return refund(a=vs[0], **more)
def both(v):
    ok = human_gate(f"{v}?", on_reject="return")
    return ok, v
def put(target, v):
    target.append(v)
def edit(target, v):
    target["k"] = v
    return target
def make(v):
    return {"a": v}
def twice(f):
    f()
    f()
"""
_CALLERS = "human_gate refund ask must may pay pay_all star both twice bound"
VALUES = (
    "x", "x", "y", "z", "d['k']", "d['k']", "d['l']", "xs[0]", "o.v", "o.v", "o.w", "f'{x}-{y}'", "x + y", "(x, y)", "[x, y]", "str(x)", "xs", "ys", "d", "e",
    "x if flag() else y", "make(x)['a']", "x.strip()", "xs[-1]", "d.get('k')", "pair.v", "o.args()", "copy.copy(d)", "e['k']", "ys[0]", "tuple(xs)",
    "xs[:1]", "lines[-1]", "args['a']", "args", "nest", "nest[0]", "nest[-1][0]",
)  # fmt: skip
NOISE = (
    "x = plain()", "x = y", "y = x", "x, y = y, x", 'x = f"{x}!"', "z = x", "x = z", "x += y", "x = x if flag() else y", "(x := y)", "x = str(x)",
    "ys = xs", "ys = list(xs)", "ys = xs[:]", "ys = xs[1:]", "ys = xs + xs", "ys = sorted(xs)", "xs = ys", "ys = [v for v in xs]", "ys = xs + [y]",
    "ys = [x, y]", "ys = [f'{v}' for v in xs]", "ys = xs * 2", "ys = [*xs, x]", "ys = [v for v in xs if flag()]", "ys = items()",
    "e = d", "e = dict(d)", "e = {**d}", "e = d.copy()", "d = e", "e = {'k': x, 'l': y}", "e = d | {'k': y}", "args = {'a': x}", "args = make(y)", "args = o.args()",
    "xs.append(y)", "xs.append(plain())", "ys.append(y)", "ys.append(plain())", "xs.clear()", "xs[0] = y", "xs[0] = plain()", "ys[0] = y",
    "xs.extend(ys)", "xs += [y]", "xs *= 2", "xs.pop()", "xs.sort(key=str)", "xs.reverse()", "ys.insert(0, x)", "del xs[0]",
    'd["k"] = y', 'd["k"] = plain()', "d.update(k=y)", 'e["k"] = y', 'e["k"] = plain()', 'd.setdefault("k", y)', "d.pop('l')", 'args["a"] = y', 'args["b"] = z',
    "args.update(a=plain())", "args |= {'a': y}", "o.v = y", "o.v = plain()", "o.set(y)", "o2 = o", "o2.v = y", "o2.set(plain())", "o = Box(x, y)", "o2 = Box(y, x)",
    "pair.v = y", "pair = Pair(x, y)", "put(xs, y)", "put(ys, plain())", "edit(d, y)", "e = edit(d, y)", "add(y)", "add = xs.append", "bump()", "grow()", "grow()",
    "lines.append(x)", "lines.append(f'{d}')", "lines = [x]", "lines += [y]", "plain()", "setattr(o, 'v', y)", "vars(o).update(v=y)", "x = xs.pop() if xs else x",
    "x = next(iter(xs))", "it = iter(xs)", "x = next(it)", "for v in xs: lines.append(v)", "for v in xs: lines.append(f'{v} {y}')", "for v in d.values(): z = v",
    "xs = [plain() for _ in xs]", "x = d['k']", "y = d['l']", "d = {'k': x, 'l': plain()}", "nest = [xs, ys]", "nest[0].append(y)",
    "nest = {'in': d}", "p = False", "p = None", "q = p", "p = q",
)  # fmt: skip
COLLECTIONS = (
    "xs", "xs", "xs", "ys", "ys", "list(xs)", "reversed(xs)", "sorted(xs)", "xs[1:]", "xs + ys", "xs * 2", "[*xs, *ys]", "set(xs)", "d.values()", "e.values()",
    "(x, y)", "[x, y]", "[v for v in xs]", "[v for v in xs for _ in ys]", "filter(None, xs)", "map(str, xs)", "itertools.chain(xs, ys)", "itertools.islice(xs, 1)",
    "[xs[0], xs[0]]", "(v for v in xs)", "dict.fromkeys(xs)", "lines", "tuple(xs)", "[x] + xs", "[x for _ in xs]", "iter(xs)", "xs[::-1]", "(*xs,)",
)  # fmt: skip
GATES = (
    'human_gate(f"{{{V}}}?")', 'human_gate("go?", show={V})', 'human_gate("go?", show=[{V}, z])', 'human_gate("go?", show={{"it": {V}}})', 'human_gate("refund?")',
    'human_gate("go? " + str({V}))', 'human_gate("refund " + "{{}}".format({V}))', "must({V})", 'human_gate("\\n".join(lines))', 'human_gate("go?")',
    '(lambda: human_gate(f"{{{V}}}?"))()', "human_gate(prompt)",
)  # fmt: skip
ASKS = (
    'human_gate(f"{{{V}}}?", on_reject="return")',
    'human_gate("go?", show={V}, on_reject="return")',
    "ask({V})",
    "may({V})",
    "both({V})[0]",
    "ask(x, {V})",
)
CALLS = (
    "refund(a={V})", "refund(a={V})", "refund(a={V})", "refund(a={V}, b={W})", "pay({V})", "star({V})", "star(*[{V}, y])", "star({V}, b={W})", "refund(**args)",
    'refund(**{{"a": {V}}})', "refund(**make({V}))", "functools.partial(refund, a={V})()", "bound()", "(lambda v: refund(a=v))({V})", "last = refund(a={V})",
    "gated(refund)(a={V})", "refund(**o.args())", "later()", "later()", "twice(later)", 'refund(a="x")', "refund(a={V}) if flag() else plain()", "flag() and refund(a={V})",
    "[refund(a=v) for v in {C}]", "pay_all({C})", "refund(a=last)", "[pay(v) for v in {C} if flag()]",
)  # fmt: skip
LOOPS = (
    ("for v in {C}:", "v"), ("for v in {C}:", "v"), ("for i, v in enumerate({C}):", "v"), ("for v, w in zip(xs, ys):", "v"), ("for k, v in d.items():", "v"),
    ("for v, w in zip(xs, {C}):", "w"), ("for i in range(len(xs)):", "xs[i]"), ("for _ in range(2):", "x"), ("while flag():", "x"), ("for v in {C}:", "x"),
    ("while xs:", "xs.pop()"), ("for k in d:", "d[k]"), ("for v in {C}:", "(v, x)"), ("for v in {C}:", 'f"{{v}}!"'), ("for vs in [xs, ys]:", "vs"),
)  # fmt: skip
CATCHES = ("except ApprovalDenied:", "except Exception:", "except ValueError:", "except:", "except* Exception:")

Block = list[str]


def _indent(block: Block) -> Block:
    return [f"    {line}" for line in block]


class Writer:
    """Writes one program: mostly asks for what it then calls, with changes before, between and after."""

    def __init__(self, random: Random, *, concurrent: bool = False) -> None:
        self.random = random
        self.concurrent = concurrent
        self.shown = "x"

    def filled(self, template: str, value: str = "") -> str:
        pick = self.random.choice
        collection = pick(COLLECTIONS)
        found = template.replace("{C}", collection).replace("{W}", pick(VALUES)).replace("{V}", value or self.value())
        return found.replace("{{", "{").replace("}}", "}")

    def value(self) -> str:
        return self.shown if self.random.random() < 0.7 else self.random.choice(VALUES)

    def noise(self, chance: float) -> Block:
        found: Block = []
        while self.random.random() < chance:
            found.append(self.random.choice(NOISE))
        return found

    def gate(self) -> Block:
        pick = self.random
        value = pick.choice((*VALUES, *("xs", "ys", "d", "e", "args") * 3))
        self.shown = value if pick.random() < 0.9 else pick.choice(VALUES)
        gate = self.filled(pick.choice(GATES), value)
        prompt = self.filled("str({V})", value)
        before = [f"prompt = {prompt}", *self.noise(0.1)] if "prompt" in gate else []
        ask = self.filled(pick.choice(ASKS), value)
        shape = pick.random()
        if shape < 0.45:
            return [*before, gate]
        if shape < 0.7:
            return [f"p = {ask}", *self.noise(0.15), "if not p:", "    return"]
        if shape < 0.78:
            return [f"if not (p := {ask}):", "    raise ValueError"]
        if shape < 0.84:
            return [
                "try:",
                *_indent([*before, gate]),
                pick.choice(CATCHES),
                *_indent([pick.choice(("plain()", "raise", "p = None"))]),
            ]
        if shape < 0.9:
            return [
                f"while not (p := {ask}):",
                *_indent(self.noise(0.3) or ["plain()"]),
                "else:",
                *_indent(self.noise(0.2) or ["plain()"]),
            ]
        if shape < 0.95:
            return [f"match {ask}.approved:", "    case True:", "        plain()", "    case _:", "        return"]
        return [
            "try:",
            *_indent([gate]),
            "finally:",
            *_indent([pick.choice(("plain()", "x = y", "return", "lines = []"))]),
        ]

    def call(self) -> Block:
        pick = self.random
        shape = pick.random()
        call = self.filled(pick.choice(CALLS))
        if shape < 0.5:
            return [call]
        if shape < 0.8:
            head, element = pick.choice(LOOPS)
            found = [
                self.filled(head, ""),
                *_indent([*self.noise(0.1), f"refund(a={self.filled(element)})", *self.noise(0.15)]),
            ]
            if self.shown in ("xs", "ys") and pick.random() < 0.5:
                found[0] = f"for v in {self.shown}:"
            if pick.random() < 0.15:
                found += _indent([pick.choice(("break", "continue", "if flag(): break"))])
            if pick.random() < 0.2:
                found += ["else:", *_indent([call])]
            return found
        if shape < 0.9:
            return [
                "try:",
                *_indent([call]),
                "except ValueError:",
                *_indent([pick.choice((call, "plain()", "return", "x = y"))]),
            ]
        if shape < 0.95:
            return ["with suppress(ValueError):", *_indent([call])]
        return ["match x:", "    case str():", *_indent(_indent([call])), "    case _:", *_indent(_indent([call]))]

    def body(self) -> Block:
        pick = self.random
        found = [*self.noise(0.45), *self.gate(), *self.noise(0.3), *self.call(), *self.noise(0.25)]
        if pick.random() < 0.3:
            found += self.call()
        if pick.random() < 0.2:
            found += [*self.gate(), *self.call()]
        return found

    def program(self) -> str:
        pick = self.random
        body = self.body()
        if pick.random() < 0.15:
            body = ["for r in items():", *_indent(body)]
        elif pick.random() < 0.1:
            body = ["if flag():", *_indent(body), "else:", *_indent(self.body())]
        start = [
            "p = q = last = None",
            "ys = list(xs)",
            "e = d",
            "o = Box(x, y)",
            "o2 = o",
            "pair = Pair(x, y)",
            "args = {'a': x}",
            "lines = []",
            "add = ys.append",
            "nest = [xs, ys]",
        ]
        start += ["it = iter(ys)", "bound = functools.partial(refund, a=x)"]
        start += [
            "def bump():",
            "    nonlocal x",
            "    x = plain()",
            "def grow():",
            "    xs.append(y)",
            "def later():",
            "    return refund(a=x)",
        ]
        lines = ["@flow", "def subject(x, y, z, xs, d):", *_indent(start), *_indent(body)]
        source = HELPERS + "\n".join(lines) + "\n"
        return _awaited(source) if self.concurrent else source


def _awaited(source: str) -> str:
    """Turn a program into one that awaits its steps."""
    names = _CALLERS.replace(" ", "|") + "|later"
    source = re.sub(rf"(?<!def )(?<![\w.])({names})\(", r"(await \1)(", source)
    source = re.sub(rf"\(await ({names})\)\(", r"await \1(", source)
    source = re.sub(rf"def ({names}|subject)\(", r"async def \1(", source)
    source = source.replace("    f()\n", "    await f()\n")
    source = re.sub(r"gated\(refund\)\(", "await gated(refund)(", source)
    source = re.sub(r"functools.partial\(refund, a=([^\n]*)\)\(\)", r"await functools.partial(refund, a=\1)()", source)
    source = (
        source.replace("(lambda", "await (lambda")
        .replace("lambda: await human_gate", "lambda: human_gate")
        .replace("lambda v: await refund", "lambda v: refund")
    )
    source = re.sub(r"await both\((.*)\)\[0\]", r"(await both(\1))[0]", source)
    source = re.sub(r"match await (.*)\.approved:", r"match (await \1).approved:", source)
    source = re.sub(
        r"^( *)\[await refund\(a=v\) for v in (.*)\]$",
        r"\1await asyncio.gather(*[refund(a=v) for v in \2])",
        source,
        flags=re.MULTILINE,
    )
    return re.sub(
        r"^( *)\[await pay\(v\) for v in (.*) if flag\(\)\]$",
        r"\1await asyncio.gather(*[pay(v) for v in \2], return_exceptions=True)",
        source,
        flags=re.MULTILINE,
    )


def shown_program(seed: int) -> str:
    """Return the program of a seed."""
    return Writer(Random(seed)).program()


def concurrent_shown_program(seed: int) -> str:
    """Return the program of a seed that awaits its steps."""
    return Writer(Random(seed), concurrent=True).program()


shown_programs = st.integers(0, 2**40).map(shown_program)
concurrent_shown_programs = st.integers(0, 2**40).map(concurrent_shown_program)


# -- the runtime --------------------------------------------------------------------------------


def pieces(value: object) -> list[int]:
    """Return the numbers of all data in a value, with repetitions."""
    return [int(number) for number in re.findall(r"<(\d+)>", rendered(value))]


def rendered(value: object, depth: int = 0) -> str:
    """Write a value out with everything in it."""
    if depth > 6 or isinstance(value, str) or value is None:
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{rendered(k, depth + 1)}:{rendered(v, depth + 1)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple | set):
        return "[" + ",".join(rendered(item, depth + 1) for item in value) + "]"
    if hasattr(value, "__dict__") and not callable(value):
        return "(" + rendered(vars(value), depth + 1) + ")"
    return type(value).__name__


def _objects(value: object, found: dict[int, object], depth: int = 0) -> None:
    """Collect what can be changed in place in a value."""
    if depth > 5 or id(value) in found or isinstance(value, str | type) or callable(value):
        return
    if isinstance(value, list | dict | set) or (hasattr(value, "__dict__") and type(value).__name__ in ("Box", "Pair")):
        found[id(value)] = value
    inside: Any = value if isinstance(value, list | tuple | set) else value.values() if isinstance(value, dict) else ()
    if id(value) in found and hasattr(value, "__dict__"):
        inside = vars(value).values()
    for item in inside:
        _objects(item, found, depth + 1)


def _held(frame: Any) -> dict[int, object]:
    """Return what can be changed in place of what the program holds, from one frame outwards."""
    found: dict[int, object] = {}
    while frame is not None and frame.f_code.co_filename == "<program>":
        for value in list(frame.f_locals.values()):
            _objects(value, found)
        frame = frame.f_back
    return found


@dataclass
class Yes:
    """One approval that was given."""

    newest: int
    """Data with a higher number appeared after it."""
    names_tool: bool
    shown: Counter[int]
    """How often each piece of data stood in the prompt, or in what was shown beside it."""
    objects: dict[int, tuple[object, str]]
    """What could be changed in place, and what was in it."""
    used: Counter[tuple[object, frozenset[int]]] = field(default_factory=Counter)
    """How often each site was called with the same pieces."""


@dataclass
class Run:
    """One run under a fixed list of choices; further choices take the first way and are noted."""

    choices: list[int]
    sizes: list[int] = field(default_factory=list)
    approvals: list[Yes] = field(default_factory=list)
    newest: int = 0
    violation: str = ""
    calls: int = 0
    held: dict[int, object] = field(default_factory=dict)
    """What could be changed in place at the last call."""
    stopped: bool = False

    def choose(self, size: int) -> int:
        self.tick()
        at = len(self.sizes)
        self.sizes.append(size)
        return self.choices[at] if at < len(self.choices) else 0

    def tick(self) -> bool:
        self.calls += 1
        if self.calls > 60:
            self.stopped = True
            raise Stop
        return True

    def data(self) -> str:
        self.newest += 1
        return f"<{self.newest}>"

    def plain(self) -> str:
        if self.choose(2):
            raise ValueError
        return self.data()

    def items(self) -> list[str]:
        return [self.data() for _ in range(self.choose(3))]

    def gate(self, frame: Any, prompt: str, show: object, on_reject: str) -> Answer:
        shown = Counter(pieces(prompt))
        for piece, count in Counter(pieces(show)).items():
            shown[piece] = max(shown[piece], count)
        if self.choose(2):
            held = {key: (value, rendered(value)) for key, value in _held(frame).items()}
            named = "refund" in prompt or "refund" in rendered(show)
            self.approvals.append(Yes(self.newest, named, shown, held))
            return Answer(True)
        if on_reject == "raise":
            raise Denied
        return Answer(False)

    def refund(self, frame: Any, site: object, arguments: dict[str, object]) -> str:
        self.tick()
        self.held = _held(frame)
        if self.stopped:
            return ""
        taken = pieces(arguments)
        reasons = [self.flaw(yes, site, taken, arguments) for yes in self.approvals]
        covering = [yes for yes, reason in zip(self.approvals, reasons, strict=True) if not reason]
        if not covering and not self.violation:
            self.violation = " / ".join(reasons) or "no approval was given before the call"
        if self.choose(2):
            raise ValueError
        for yes in covering[-1:]:
            yes.used[site, frozenset(taken)] += 1
        return self.data()

    def beside(self, taken: list[int]) -> set[int]:
        """Return what stands in one container with what a call takes: which of it a call draws is not for the gates."""
        found: set[int] = set()
        for value in self.held.values():
            inside = set(pieces(value))
            if inside.intersection(taken):
                found |= inside
        return found

    def flaw(self, yes: Yes, site: object, taken: list[int], arguments: dict[str, object]) -> str:
        """Return why an approval does not cover a call, or an empty string."""
        if any(piece > yes.newest for piece in taken):
            return "stale: the call uses what appeared after the approval"
        objects: dict[int, object] = {}
        for value in arguments.values():
            _objects(value, objects)
        if any(key in yes.objects and yes.objects[key][1] != rendered(value) for key, value in objects.items()):
            return "stale: an argument was changed after the approval"
        seen = [piece for piece in set(taken) if yes.shown[piece]]
        something = all(value == "x" or pieces(value) for value in arguments.values())
        if something and not seen and not yes.names_tool and not any(yes.shown[piece] for piece in self.beside(taken)):
            return "unseen: the approval showed nothing of the call"
        if yes.used[site, frozenset(taken)] >= min((yes.shown[piece] for piece in seen), default=1):
            return "repeated: the approval was used up"
        return ""


def shown_violations(source: str, limit: int = 400) -> str:
    """Run a program over its choices, depth first; returns the first violation, or an empty string."""
    plain = re.sub(r"(?m)^( *)while (.*):$", r"\1while tick() and (\2):", source.replace("@flow\n", ""))
    code = compile(plain, "<program>", "exec")
    pending: list[list[int]] = [[]]
    done = 0
    while pending and done < limit:
        choices = pending.pop()
        run = Run(choices)
        done += 1
        _execute(code, run, concurrent="async def subject" in source)
        if run.violation:
            return run.violation
        for at in range(len(choices), len(run.sizes)):
            base = choices + [0] * (at - len(choices))
            pending.extend([*base, other] for other in range(1, run.sizes[at]))
    return ""


def _execute(code: CodeType, run: Run, *, concurrent: bool) -> None:
    space = _space(run, _later(run) if concurrent else lambda function: function())
    exec(code, space)
    xs = [run.data() for _ in range(1 + run.choose(3))]
    arguments = (run.data(), run.data(), run.data(), xs, {"k": run.data(), "l": run.data()})
    try:
        if concurrent:
            asyncio.run(space["subject"](*arguments))
        else:
            space["subject"](*arguments)
    except (Exception, Stop):  # noqa: BLE001 - what the program raises is no concern of ours
        return


def _space(run: Run, step: Callable[[Callable[[], object]], object]) -> dict[str, Any]:
    """Return the names that a program finds; `step` does something now or gives what is to be awaited."""

    def human_gate(prompt: str, *, show: object = None, on_reject: str = "raise") -> object:
        frame = sys._getframe(1)
        return step(lambda: run.gate(frame, prompt, show, on_reject))

    def refund(**arguments: object) -> object:
        frame = sys._getframe(1)
        site = frame.f_code, frame.f_lasti
        return step(lambda: run.refund(frame, site, arguments))

    def gated(tool: object) -> Callable[..., object]:
        def ask() -> str:
            if not run.choose(2):
                raise Denied
            return run.data()

        return lambda **arguments: step(ask)

    return {
        "suppress": suppress, "ApprovalDenied": Denied, "human_gate": human_gate, "refund": refund, "gated": gated,
        "flag": lambda: bool(run.choose(2)), "items": run.items, "plain": run.plain, "tick": run.tick, "copy": copy,
        "functools": functools, "itertools": itertools, "asyncio": asyncio, "dataclass": _pair, "__name__": "program",
    }  # fmt: skip


def _pair(cls: type) -> type:
    """Do what `dataclass` would make of `Pair`, without compiling code in each run."""

    def fill(self: Any, v: object, w: object) -> None:
        self.v, self.w = v, w

    cls.__init__ = fill  # type: ignore[misc]
    return cls


def _later(run: Run) -> Callable[[Callable[[], object]], object]:
    def step(function: Callable[[], object]) -> object:
        async def wait() -> object:
            for _ in range(run.choose(2)):
                await asyncio.sleep(0)
            return function()

        return wait()

    return step
