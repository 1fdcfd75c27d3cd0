"""The gateway on standard input and output: bounded lines, nothing else on the wire, an end that waits for nobody.

The SDK's own transport reads lines of any length in a thread that cannot be interrupted, which would keep a
terminated gateway, and the servers behind it, alive until its client wrote once more.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from keel.capture.lines import LineReader, LongLine
from keel.core.text import size
from keel.gateway.pipes import Input, Output, standard_streams

_UNREAD = 64
"""Answers that may wait for a client to read; while more do, nothing further is read of it."""

Inbound = MemoryObjectSendStream[SessionMessage | Exception]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


async def serve_stdio(server: Server[Any], *, limit: int) -> None:
    """Serve one client on the process's own standard streams, until it closes them.

    Args:
        server: the server.
        limit: longest message of the client, in bytes.
    """
    async with _streams(limit) as (read, write):
        await server.run(read, write, server.create_initialization_options())


@asynccontextmanager
async def _streams(limit: int) -> AsyncGenerator[Streams]:
    inward, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outward = anyio.create_memory_object_stream[SessionMessage](0)
    with standard_streams() as (incoming, outgoing):
        source, sink = Input(incoming), Output(outgoing)
        async with anyio.create_task_group() as tasks, inward, read, write, outward:
            room = _Room(write)
            tasks.start_soon(_read, source, inward, sink, limit, room)
            tasks.start_soon(_write, outward, sink, room)
            yield read, write
            tasks.cancel_scope.cancel()


class _Room:
    """Keeps a client that sends and does not read from filling the memory.

    Args:
        answers: where answers are handed over to be written.
    """

    def __init__(self, answers: MemoryObjectSendStream[SessionMessage]) -> None:
        self._answers = answers
        self._written = anyio.Event()
        self._open = True

    def close(self) -> None:
        """Tell that nothing is written any more, so that nobody waits for it."""
        self._open = False
        self._written.set()

    def wrote(self) -> None:
        """Tell that an answer has been written."""
        self._written.set()
        self._written = anyio.Event()

    async def wait(self) -> None:
        """Wait until few answers wait to be written."""
        while self._open and self._answers.statistics().tasks_waiting_send > _UNREAD:
            await self._written.wait()


async def _read(source: Input, inward: Inbound, sink: Output, limit: int, room: _Room) -> None:
    lines = LineReader(limit)
    async with inward:
        try:
            async for chunk in source:
                for line in lines.feed(chunk):
                    message = await _message(line, sink, limit)
                    if message is not None:
                        await room.wait()
                        await inward.send(SessionMessage(message))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return


async def _message(line: bytes | LongLine, sink: Output, limit: int) -> Any:
    """Return a line as a message; what is none is answered at once."""
    if isinstance(line, LongLine):
        await _refuse(sink, INVALID_REQUEST, f"a message has more than {size(limit)}")
        return None
    if not line.strip():
        return None
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        await _refuse(sink, PARSE_ERROR, "a line is not a JSON-RPC message")
        return None


async def _refuse(sink: Output, code: int, message: str) -> None:
    error = JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=message))
    await sink.send(f"{error.model_dump_json(by_alias=True, exclude_unset=True)}\n".encode())


async def _write(outward: MemoryObjectReceiveStream[SessionMessage], sink: Output, room: _Room) -> None:
    """Write until the client is gone, which its closed input says too."""
    try:
        async for item in outward:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            if not await sink.send(f"{text}\n".encode()):
                return
            room.wrote()
    finally:
        room.close()
