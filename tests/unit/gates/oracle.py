"""Random flow programs and a runtime that runs each of them over every choice, with a person who may deny."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from hypothesis import strategies as st

HEADER = """import asyncio
from contextlib import suppress
from keel import ApprovalDenied, flow, human_gate, mcp_tool
from lab import flag, items, plain
refund = mcp_tool("pay", "refund")
"""
CONDITIONS = (
    "flag()", "p", "q", "not p", "p and flag()", "p or flag()", "p and q", "p or q", "not (p and q)", "not p or flag()",
    "bool(p)", "p if flag() else q", 'human_gate("refund?", on_reject="return")', 'not human_gate("refund?", on_reject="return")',
    '(p := human_gate("refund?", on_reject="return"))', "p is not None", "flag() and not q",
)  # fmt: skip
SIMPLE = (
    'human_gate("refund?")', 'p = human_gate("refund?", on_reject="return")', 'q = human_gate("refund?", on_reject="return")',
    'refund(a="x")', 'refund(a="x")', "plain()", "p = q", "q = p", "p = False", "q = True", "p = bool(q)", "p = p and q", "q = p or q",
    "p = not q", "return None", "raise ValueError", "p = helper()", "helper()", "q = not helper()", "p = flag()", "assert p",
    'p = refund(a="x") if q else p', 'q = p and refund(a="x")',
)  # fmt: skip
ASYNC = (
    'await human_gate("refund?")', 'p = await human_gate("refund?", on_reject="return")', 'await refund(a="x")', 'await refund(a="x")',
    'await asyncio.gather(human_gate("refund?"), plain())', 'await asyncio.gather(human_gate("refund?"), refund(a="x"))',
    'await asyncio.gather(plain(), human_gate("refund?"))', 'await asyncio.gather(human_gate("refund?"), return_exceptions=True)',
    'p, q = await asyncio.gather(human_gate("refund?", on_reject="return"), human_gate("refund?", on_reject="return"))',
    "await helper()", "p = await helper()", "await asyncio.gather(helper(), plain())", 'await asyncio.gather(helper(), refund(a="x"))',
    'await asyncio.wait_for(human_gate("refund?"), 5)', 'await asyncio.shield(human_gate("refund?"))', "await plain()", "q = p",
    "p = False", "return None", 'q = await refund(a="x") if p else None', 'await asyncio.gather(*[human_gate("refund?") for _ in items()])',
)  # fmt: skip
CATCHES = (
    "except ApprovalDenied:",
    "except Exception:",
    "except ValueError:",
    "except (ValueError, ApprovalDenied):",
    "except:",
)
HEADS = (
    "for _ in items():",
    "for _ in range(2):",
    "while flag():",
    "while not p:",
    "while True:",
    "for _ in range(1):",
)

Block = list[str]


def _indent(block: Block) -> Block:
    return [f"    {line}" for line in block]


class Writer:
    """Writes one random program of a bounded size."""

    def __init__(self, random: Random, size: int, *, concurrent: bool = False) -> None:
        self.concurrent = concurrent
        self.random = random
        self.left = size
        self.helper = False

    def block(self, depth: int, *, loop: bool = False) -> Block:
        found: Block = []
        for _ in range(self.random.choice((1, 1, 2, 2, 3))):
            found += self.statement(depth, loop=loop)
            if self.left <= 0:
                break
        return found

    def statement(self, depth: int, *, loop: bool) -> Block:
        self.left -= 1
        pick = self.random
        if depth == 0 or self.left <= 0 or pick.random() < 0.55:
            if loop and pick.random() < 0.2:
                return [pick.choice(("break", "continue"))]
            line = pick.choice(ASYNC if self.concurrent else SIMPLE)
            if self.concurrent and "helper" in line and not self.helper:
                return ["await plain()"]
            return ["plain()"] if "helper" in line and not self.helper else [line]
        return pick.choice(
            (self.branch, self.branch, self.attempt, self.attempt, self.last, self.loop, self.quiet, self.cases)
        )(depth - 1, loop)

    def condition(self) -> str:
        found = self.random.choice(CONDITIONS)
        return found.replace("human_gate(", "await human_gate(") if self.concurrent else found

    def task(self, depth: int, loop: bool) -> Block:
        """A task that is awaited some statements later."""
        self.left -= 1
        name = f"t{self.left % 3}"
        what = self.random.choice(
            ('human_gate("refund?")', 'human_gate("refund?", on_reject="return")', 'refund(a="x")')
        )
        return [f"{name} = asyncio.create_task({what})", *self.block(depth, loop=loop), f"p = await {name}"]

    def tasks(self, depth: int, loop: bool) -> Block:
        """A task group; some of its tasks are started only perhaps."""
        started = self.random.choice(
            (
                ['g.create_task(human_gate("refund?"))'],
                ["if flag():", '    g.create_task(human_gate("refund?"))'],
                ["for _ in items():", '    g.create_task(human_gate("refund?"))'],
                ['g.create_task(human_gate("refund?"))', 'g.create_task(refund(a="x"))'],
                ['t = g.create_task(human_gate("refund?", on_reject="return"))', "p = await t"],
            )
        )
        return (
            ["async with asyncio.TaskGroup() as g:", *_indent([*started, *self.block(min(depth, 0), loop=False)])]
            if loop is False
            else self.block(0, loop=loop)
        )

    def branch(self, depth: int, loop: bool) -> Block:
        found = [f"if {self.condition()}:", *_indent(self.block(depth, loop=loop))]
        if self.random.random() < 0.5:
            found += ["else:", *_indent(self.block(depth, loop=loop))]
        return found

    def attempt(self, depth: int, loop: bool) -> Block:
        found = [
            "try:",
            *_indent(self.block(depth, loop=loop)),
            self.random.choice(CATCHES),
            *_indent(self.block(depth, loop=loop)),
        ]
        if self.random.random() < 0.4:
            found += ["else:", *_indent(self.block(depth, loop=loop))]
        return found

    def last(self, depth: int, loop: bool) -> Block:
        return ["try:", *_indent(self.block(depth, loop=loop)), "finally:", *_indent(self.block(depth, loop=loop))]

    def loop(self, depth: int, loop: bool) -> Block:
        del loop
        found = [self.random.choice(HEADS), *_indent(self.block(depth, loop=True))]
        if self.random.random() < 0.3:
            found += ["else:", *_indent(self.block(depth))]
        return found

    def quiet(self, depth: int, loop: bool) -> Block:
        return ["with suppress(ApprovalDenied):", *_indent(self.block(depth, loop=loop))]

    def cases(self, depth: int, loop: bool) -> Block:
        first, second = self.block(depth, loop=loop), self.block(depth, loop=loop)
        return ["match bool(p):", "    case True:", *_indent(_indent(first)), "    case _:", *_indent(_indent(second))]

    def program(self) -> str:
        helper = self.block(2)
        result = self.random.choice(("p", "True", "not p", "None"))
        self.helper = True
        self.left = max(self.left, 6)
        body = self.block(3) + self.block(3)
        lines = [
            f"{'async ' if self.concurrent else ''}def helper():",
            "    p = q = False",
            *_indent(helper),
            f"    return {result}",
        ]
        lines += ["@flow", f"{'async ' if self.concurrent else ''}def subject():", "    p = q = False", *_indent(body)]
        if self.random.random() < 0.7:
            lines.append(f'    {"await " if self.concurrent else ""}refund(a="x")')
        return "\n".join(lines) + "\n"


def program(seed: int) -> str:
    """Return the program of a seed."""
    random = Random(seed)
    return Writer(random, random.choice((4, 6, 8, 12, 16))).program()


def concurrent_program(seed: int) -> str:
    """Return the concurrent program of a seed."""
    random = Random(seed)
    return Writer(random, random.choice((4, 6, 8, 12)), concurrent=True).program()


programs = st.integers(0, 2**40).map(program)
concurrent_programs = st.integers(0, 2**40).map(concurrent_program)


class Denied(Exception):
    """A person said no."""


class Stop(BaseException):
    """The run is longer than anybody looks."""


class Answer:
    """What `on_reject="return"` gives."""

    def __init__(self, approved: bool) -> None:
        self.approved = approved

    def __bool__(self) -> bool:
        return self.approved


@dataclass
class Run:
    """One run under a fixed list of choices; further choices take the first way and are noted."""

    choices: list[int]
    sizes: list[int] = field(default_factory=list)
    used: set[int] | None = None
    """Sites that the last approval has paid for; None before any approval."""
    violation: str = ""
    steps: int = 0
    stopped: bool = False

    def tick(self) -> bool:
        self.steps += 1
        if self.steps > 40:
            # what catches this catches the end of the observation: nothing after it counts
            self.stopped = True
            raise Stop
        return True

    def choose(self, size: int) -> int:
        self.tick()
        at = len(self.sizes)
        self.sizes.append(size)
        return self.choices[at] if at < len(self.choices) else 0

    def gate(self, prompt: str, on_reject: str = "raise") -> Answer:
        del prompt
        if self.choose(2):
            self.used = set()
            return Answer(True)
        if on_reject == "raise":
            raise Denied
        return Answer(False)

    def refund(self, site: int) -> object:
        if self.stopped:
            return {}
        if self.used is None:
            self.violation = "no approval was given before the call"
        elif site in self.used:
            self.violation = "one approval paid for a second call of the site"
        if self.choose(2):
            raise ValueError
        if self.used is not None:
            self.used.add(site)
        return {"ok": True}

    def plain(self) -> None:
        if self.choose(2):
            raise ValueError

    def items(self) -> list[int]:
        return list(range(self.choose(3)))


def numbered(source: str) -> str:
    """Give every refund in the source its own number, so that a run can tell sites apart."""
    counter = itertools.count()
    source = re.sub(r"(?m)^( *)while (.*):$", r"\1while tick() and (\2):", source)
    parts = source.split('refund(a="x")')
    return "".join(part if at == 0 else f"refund({next(counter)}){part}" for at, part in enumerate(parts))


def violations(source: str, limit: int = 1500) -> str:
    """Run a program over its choices, depth first; returns the first violation, or an empty string."""
    plain = numbered(source).replace("@flow\n", "")
    code = compile(plain, "<program>", "exec")
    pending: list[list[int]] = [[]]
    done = 0
    while pending and done < limit:
        choices = pending.pop()
        run = Run(choices)
        done += 1
        _execute(code, run, plain)
        if run.violation:
            return run.violation
        for at in range(len(choices), len(run.sizes)):
            base = choices + [0] * (at - len(choices))
            pending.extend([*base, other] for other in range(1, run.sizes[at]))
    return ""


def _execute(code: object, run: Run, source: str) -> None:
    from contextlib import suppress

    space: dict[str, object] = {
        "suppress": suppress, "ApprovalDenied": Denied, "human_gate": run.gate, "refund": run.refund,
        "flag": lambda: bool(run.choose(2)), "items": run.items, "plain": run.plain, "tick": run.tick,
    }  # fmt: skip
    exec(code, space)
    if "async def subject" in source:
        _execute_concurrent(space, run)
        return
    try:
        space["subject"]()  # type: ignore[operator]
    except (Exception, Stop):  # noqa: BLE001 - what the program raises is no concern of ours
        return


def _execute_concurrent(space: dict[str, object], run: Run) -> None:
    """Run an async subject; each step waits for a chosen number of turns, so that orders differ."""

    def later(function: Callable[..., object]) -> Callable[..., object]:
        async def step(*args: object, **words: object) -> object:
            for _ in range(run.choose(2)):
                await asyncio.sleep(0)
            return function(*args, **words)

        return step

    space |= {"human_gate": later(run.gate), "refund": later(run.refund), "plain": later(run.plain), "asyncio": asyncio}
    try:
        asyncio.run(space["subject"]())  # type: ignore[operator]
    except (BaseExceptionGroup, Exception, Stop):  # noqa: BLE001 - what the program raises is no concern of ours
        return
