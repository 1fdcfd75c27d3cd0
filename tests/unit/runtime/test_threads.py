"""Sync flows in threads: a result, an error, and what cannot be stopped."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from keel.runtime.threads import in_scope, wait_for


def test_a_value_and_an_error_come_back() -> None:
    assert asyncio.run(in_scope(lambda: 7)) == 7
    with pytest.raises(ZeroDivisionError):
        asyncio.run(in_scope(lambda: 1 // 0))


def test_a_cancelled_function_that_makes_no_step_is_left_behind() -> None:
    free = threading.Event()
    steps: list[str] = []

    async def main() -> None:
        loop, over = asyncio.get_running_loop(), asyncio.Event()

        async def step() -> None:
            steps.append("made")

        def endless() -> None:
            free.wait(30)
            try:
                wait_for(step(), loop)
            except asyncio.CancelledError:
                steps.append("refused")
            loop.call_soon_threadsafe(over.set)

        task = asyncio.ensure_future(in_scope(endless, patience_s=0.2))
        await asyncio.sleep(0.05)
        began = time.monotonic()
        task.cancel()
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - began < 10
        free.set()
        await asyncio.wait_for(over.wait(), 10)  # it lives on, and whatever it asks for is refused

    asyncio.run(main())
    assert steps == ["refused"]
