"""Stands in for every tool where nothing may be executed: answers come from fixtures, or from the output schemas."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from keel.compat.relation import relate
from keel.core.finding import NotChecked
from keel.core.model import Json, Surface
from keel.core.text import excerpt
from keel.runtime.ports import Reply

if TYPE_CHECKING:
    from keel.runtime.bundle import Bundle


@dataclass
class SampleTools:
    """`Upstream` and `NativeTools` of a dry run: validates nothing itself and reaches nothing."""

    bundle: Bundle
    fixtures: Mapping[str, Json] = field(default_factory=dict)
    """Results by tool key; for other tools the smallest instance of the output schema that is found."""

    async def sample(self, key: str) -> Reply:
        """Return the sample of a tool."""
        if key in self.fixtures:
            return Reply(data=self.fixtures[key])
        tool = self.bundle.tools.get(key)
        schema = tool.output_schema if tool is not None else None
        if schema is None:
            return Reply(data={})
        witness = relate(schema, False).witness_old_not_new  # an instance is what tells a schema from the empty one
        if witness is None:
            message = f"no sample result of `{excerpt(key)}` is known; give one with `--fixtures`"
            return Reply(failed=True, code="NoSample", message=message)
        return Reply(data=witness.value)

    def native(self) -> SampleNatives:
        """Return the same samples as a port for native tools."""
        return SampleNatives(self)

    async def call(
        self, server: str, tool: str, arguments: Mapping[str, Json], *, idempotency_key: str, timeout_s: float
    ) -> Reply:
        """Answer a call of an MCP tool."""
        del arguments, idempotency_key, timeout_s
        return await self.sample(f"{server}/{tool}")

    async def surface(self, server: str) -> Surface | NotChecked:
        """Return what was frozen: a dry run asks nobody."""
        return self.bundle.lock.surfaces[server]

    def on_change(self, heard: Callable[[str], None]) -> None:
        """Tell nobody of anything: what was frozen does not change."""
        del heard

    def endpoint(self, server: str) -> str:
        """Return the address as written, which is judged and not reached."""
        spec = self.bundle.servers.get(server)
        return spec.url if spec is not None and "${" not in spec.url and "secret://" not in spec.url else ""


@dataclass(frozen=True)
class SampleModels:
    """Models of a dry run: the smallest answer that fits, and no calls of tools."""

    fixtures: Mapping[str, Json] = field(default_factory=dict)
    """Answers by `provider:model`."""

    async def complete(self, request: Mapping[str, Json]) -> Mapping[str, Json]:
        """Answer one request."""
        answer = self.fixtures.get(request["model"])
        if answer is None and request.get("reply_schema") is not None:
            witness = relate(request["reply_schema"], False).witness_old_not_new
            answer = witness.value if witness is not None else None
        text = answer if isinstance(answer, str) and request.get("reply_schema") is None else json.dumps(answer)
        return {"content": "" if answer is None else text, "tokens": 0, "cost_usd": 0.0}


class NoAudit:
    """Keeps nothing, where nothing is done."""

    async def append(self, event: Mapping[str, Json], *, durable: bool = True) -> None:
        """Forget an event."""
        del event, durable

    async def append_all(self, events: Sequence[Mapping[str, Json]], *, durable: bool = True) -> None:
        """Forget some events."""
        del events, durable


@dataclass(frozen=True)
class SampleNatives:
    """The samples as `NativeTools`."""

    samples: SampleTools

    async def call(self, key: str, arguments: Mapping[str, Json], *, idempotency_key: str, timeout_s: float) -> Reply:
        """Answer a call of a native tool."""
        del arguments, idempotency_key, timeout_s
        return await self.samples.sample(key)

    def endpoint(self, key: str) -> str:
        """Return no address."""
        del key
        return ""
