"""The stdio transport: newline-delimited JSON-RPC with a child process, every line tapped (MCP, transports, stdio)."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, JSONRPCRequest, jsonrpc_message_adapter

from keel.capture.gaps import CaptureGap
from keel.capture.lines import LineReader, LongLine
from keel.capture.phases import Clock, Phase
from keel.capture.process import Tail, read_chunks, spawn, stop, wait_exit
from keel.capture.tap import Tap
from keel.core.launch import Launch
from keel.core.text import escape

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_LAST_WORDS_S = 0.3
"""How long output is still read after the process has ended, because children may hold its pipes for ever."""
_FLUSH_S = 0.5


@dataclass
class StdioConnection:
    """One child process and its wire."""

    launch: Launch
    tap: Tap
    clock: Clock
    stderr: Tail = field(default_factory=Tail)
    _gap: CaptureGap | None = None
    _closing: bool = False

    def explain(self) -> CaptureGap | None:
        """Return why the wire ended, when it did so by itself."""
        return self.tap.gap or self._gap

    def last_words(self) -> str:
        """Return the last lines the process wrote to stderr."""
        return "\n".join(self.stderr.lines())

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[TransportStreams]:
        """Start the process and yield the pair of streams that the SDK's session reads and writes."""
        self.clock.enter(Phase.SPAWN)
        process = await spawn(self.launch)
        self.clock.enter(Phase.FIRST_REPLY)
        inbound, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write_stream, outbound = anyio.create_memory_object_stream[SessionMessage](0)
        written = anyio.Event()
        assert process.stderr is not None
        async with anyio.create_task_group() as tasks, inbound, read_stream, write_stream, outbound:
            tasks.start_soon(self._read, process, inbound)
            tasks.start_soon(self._watch, process, inbound)
            tasks.start_soon(self._write, process, outbound, written)
            tasks.start_soon(self.stderr.drain, process.stderr)
            try:
                yield read_stream, write_stream
            finally:
                self._closing = True
                with anyio.CancelScope(shield=True):
                    read_stream.close()
                    write_stream.close()
                    with anyio.move_on_after(_FLUSH_S):
                        await written.wait()
                    await stop(process)
                tasks.cancel_scope.cancel()

    async def _read(self, process: Process, inbound: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        assert process.stdout is not None
        lines = LineReader(self.tap.limit)
        open_ = True
        async for chunk in read_chunks(process.stdout):
            if not open_:
                continue  # a server that is still writing must not block on a full pipe
            for line in lines.feed(chunk):
                open_ = open_ and await self._deliver(line, inbound)
            if lines.overlong:
                self.tap.growing()
        if open_ and (rest := lines.rest()):
            await self._deliver(rest, inbound)
        await self._ended(process, inbound)

    async def _deliver(
        self, line: bytes | LongLine, inbound: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> bool:
        if isinstance(line, LongLine):
            message = self._typed(self.tap.broken(line.ends, self.tap.beyond))
        else:
            message = self._typed(self.tap.received(line))
        if message is None:
            self.tap.heard_noise(b"" if isinstance(line, LongLine) else line)
            return True
        try:
            await inbound.send(SessionMessage(message))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return False
        return True

    def _typed(self, value: dict[str, Any] | None) -> JSONRPCMessage | None:
        if value is None:
            return None
        try:
            return jsonrpc_message_adapter.validate_python(value, by_name=False)
        except ValueError:
            return None

    async def _watch(self, process: Process, inbound: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """End the wire soon after the process, even while one of its children keeps the pipe open."""
        while not await wait_exit(process, 3600):
            pass
        await anyio.sleep(_LAST_WORDS_S)
        await self._ended(process, inbound)

    async def _ended(self, process: Process, inbound: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        await wait_exit(process, 1.0)
        if self._gap is None and not self._closing:
            self._gap = self._exited(process.returncode)
        await inbound.aclose()

    async def _write(
        self, process: Process, outbound: MemoryObjectReceiveStream[SessionMessage], written: anyio.Event
    ) -> None:
        assert process.stdin is not None
        # A server that no longer reads says why on its other pipes; the reader notices its end.
        try:
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
                async for item in outbound:
                    message = item.message
                    if isinstance(message, JSONRPCRequest) and not self.tap.sent(message.id, message.method):
                        continue
                    text = message.model_dump_json(by_alias=True, exclude_unset=True)
                    await process.stdin.send(f"{text}\n".encode())
        finally:
            written.set()

    def _exited(self, code: int | None) -> CaptureGap:
        if code is None:
            how = "closed its standard output"
        elif code < 0:
            how = f"was ended by signal {-code}"
        else:
            how = f"exited with code {code}"
        words = self.stderr.lines(5)
        said = f"; its last words: `{' | '.join(words)}`" if words else "; it wrote nothing to stderr"
        return CaptureGap("server-exited", f"`{escape(self.launch.name)}` {how}{said}", _ENVIRONMENT)


_ENVIRONMENT = (
    "run the command by hand; under keel it sees only the documented environment variables, "
    "so pass what it needs with `pass_env` or `env`"
)
