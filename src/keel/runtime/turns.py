"""Lets the calls of one operation through one after the other, so that the later ones find its result."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from keel.runtime.asking import Ask
from keel.runtime.deciding import in_progress


class Turns:
    """The operations that are under way in this process."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}
        """By idempotency key, with how many calls hold or await it."""

    def __len__(self) -> int:
        """Return how many operations are under way."""
        return len(self._locks)

    @asynccontextmanager
    async def alone(self, ask: Ask, wait_s: float) -> AsyncIterator[None]:
        """Wait until no other call of the same operation is under way, and keep others waiting meanwhile.

        Args:
            ask: the call.
            wait_s: seconds that it may wait.

        Raises:
            Refused: `in_progress`, if its turn has not come by then.
        """
        key = ask.key or ask.call.call_id
        lock, users = self._locks.get(key) or (asyncio.Lock(), 0)
        self._locks[key] = (lock, users + 1)
        try:
            await _acquired(ask, lock, wait_s)
            try:
                yield
            finally:
                lock.release()
        finally:
            _, users = self._locks.pop(key)
            if users > 1:
                self._locks[key] = (lock, users - 1)


async def _acquired(ask: Ask, lock: asyncio.Lock, wait_s: float) -> None:
    if not lock.locked():
        await lock.acquire()
        return
    try:
        async with asyncio.timeout(wait_s):
            await lock.acquire()
    except TimeoutError as error:
        raise in_progress(ask) from error
