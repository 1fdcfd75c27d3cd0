"""Kills processes that execute operations, at random moments: `python -m tests.unit.store.kills URL FILE KILLS SEED`.

Every round starts two processes that execute the same endless list of operations, each with a side effect that must
not happen twice: a line appended to a file. Both are killed. The next round comes after every lease has run out.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
import sys
import time
from pathlib import Path

from keel.runtime.model import Admission, Decision, OperationState
from keel.store.ledger_sql import SqlLedger
from keel.store.ledgers import open_ledger

LEASE = 60.0
ROUND = 1000.0
"""Seconds by which the clock is further at every round."""
AT_ONCE = 3
"""Operations that one process has under way."""


class Clock:
    """The system's clock, some rounds later."""

    def __init__(self, rounds: int) -> None:
        self.ahead = rounds * ROUND

    def now(self) -> float:
        return time.time() + self.ahead

    def monotonic(self) -> float:
        return time.monotonic()


def admission(number: int, *, repeatable: bool) -> Admission:
    return Admission(
        key=f"k{number}", call_id=f"c{number}", tool="t", definition="d", arguments_digest="a", tenant="t", subject="s",
        repeatable=repeatable, lease_s=LEASE,
    )  # fmt: skip


async def execute(ledger: SqlLedger, number: int, effects: int, ready: int, chance: random.Random) -> None:
    """Do what a dispatcher does, with pauses in which a kill may come."""
    given = await ledger.admit(admission(number, repeatable=number % 5 == 0))
    if given.decision is not Decision.ADMITTED:
        return
    os.write(ready, b".")
    await asyncio.sleep(chance.random() * 0.004)
    await ledger.executing(f"k{number}", attempt=given.attempt)
    await asyncio.sleep(chance.random() * 0.004)
    os.write(effects, f"{number}\n".encode())
    os.fsync(effects)
    await asyncio.sleep(chance.random() * 0.004)
    await ledger.settle(f"k{number}", OperationState.SUCCEEDED, number, attempt=given.attempt)


async def work(url: str, rounds: int, effects: int, ready: int, seed: int) -> None:
    chance = random.Random(seed)
    with open_ledger(url, Clock(rounds)) as ledger:
        for first in itertools.count(step=AT_ONCE):
            numbers = range(first, first + AT_ONCE)
            await asyncio.gather(*(execute(ledger, number, effects, ready, chance) for number in numbers))


def start(url: str, rounds: int, effects: int, seed: int) -> tuple[int, int]:
    """Start one process; return its id, and a pipe that says when it executes something new."""
    read, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            asyncio.run(work(url, rounds, effects, ready, seed))
        finally:
            os._exit(1)  # an error: it works until it is killed
    os.close(ready)
    return pid, read


def main(url: str, file: str, kills: int, seed: int) -> None:
    """Run rounds until that many processes have been killed."""
    chance = random.Random(seed)
    effects = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    killed = 0
    for rounds in itertools.count():
        if killed >= kills:
            break
        started = [start(url, rounds, effects, chance.randrange(1 << 30)) for _ in range(2)]
        if chance.random() < 0.8:
            os.read(started[0][1], 1)
        for pid, ready in started:
            time.sleep(chance.random() * 0.03)
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            if not os.WIFSIGNALED(status):
                sys.exit("a process ended by itself")
            killed += 1
            os.close(ready)
    sys.stdout.write(f"{rounds}\n")


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2])), int(sys.argv[3]), int(sys.argv[4]))
