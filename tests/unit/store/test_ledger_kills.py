"""Processes killed at random between reservation and result: no side effect twice, none forgotten."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.unit.store.kills import Clock, admission

from keel.runtime.model import Decision, OperationState
from keel.store.ledgers import open_ledger

KILLS = 200 if os.environ.get("KEEL_TEST_LONG") else 40
ROOT = Path(__file__).parents[3]


def test_no_side_effect_twice_and_none_forgotten(url: str, tmp_path: Path) -> None:
    file = tmp_path / "effects"
    seed = str(int.from_bytes(os.urandom(4), "big"))
    words = [sys.executable, "-m", "tests.unit.store.kills", url, str(file), str(KILLS), seed]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=170)
    assert done.returncode == 0, (seed, done.stderr)
    rounds = int(done.stdout)
    effects = Counter(int(line) for line in file.read_text().splitlines())
    with open_ledger(url, Clock(rounds)) as ledger:
        unknown = {item.key for item in asyncio.run(ledger.unknown())}
        states = {int(item.key[1:]): item.state for item in asyncio.run(ledger.operations())}
        assert len(effects) > KILLS / 4, "hardly anything was executed"
        assert {number for number, count in effects.items() if count > 1 and number % 5} == set(), seed
        for number in (number for number in effects if number % 5):
            assert states[number] in (OperationState.SUCCEEDED, OperationState.OUTCOME_UNKNOWN), (number, seed)
        for number, state in states.items():
            if state is OperationState.SUCCEEDED:
                assert effects[number] >= 1, (number, seed)
        cut_off = {number for number, state in states.items() if state is OperationState.OUTCOME_UNKNOWN}
        assert {f"k{number}" for number in cut_off} == unknown
        assert cut_off, "no kill came between sending and answer"
        for number in cut_off:
            decision = asyncio.run(ledger.admit(admission(number, repeatable=number % 5 == 0))).decision
            assert decision is (Decision.OUTCOME_UNKNOWN if number % 5 else Decision.ADMITTED)
    print(f"{KILLS} kills, {len(effects)} effects, {len(cut_off)} unknown, {len(states)} operations")
