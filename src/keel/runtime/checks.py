"""The steps of the pipeline that need nothing but the bundle, the policy and the servers' lists; each may refuse."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from keel.core.model import Effect, FrozenTool, Json, split_key
from keel.core.text import did_you_mean, excerpt, words_of
from keel.manifest.network import host_of, reaches
from keel.runtime import grants
from keel.runtime.asking import Ask
from keel.runtime.budget import BudgetError
from keel.runtime.bundle import Bundle
from keel.runtime.comparing import Preflight
from keel.runtime.model import ErrorCode, TrustedContext
from keel.runtime.ports import Policy, Ruling
from keel.runtime.refusal import Refused
from keel.runtime.schemas import Misfit, Validators

_TOLD = 3
"""Errors that a message quotes; `detail` has all."""


@dataclass(frozen=True, slots=True)
class Checks:
    """What a call has to pass before anybody is asked for anything."""

    bundle: Bundle
    validators: Validators
    policy: Policy | None
    preflight: Preflight | None
    """None where servers are not compared."""

    def resolved(self, ask: Ask) -> FrozenTool:
        """Return the frozen tool of a name that the manifest grants."""
        name = ask.call.name
        tool = ask.run.fresh.get(name) or self.bundle.tools.get(name)
        if tool is None:
            hint = did_you_mean(name[:200], self.bundle.admitted)
            message = f"there is no tool `{excerpt(name)}` in the bundle{'; ' if hint else ''}{hint}"
            raise Refused(ErrorCode.UNKNOWN_TOOL, message)
        if not self.bundle.manifest.admits(name):
            raise Refused(ErrorCode.NOT_GRANTED, f"the manifest does not grant `{excerpt(name)}`")
        return tool

    def fits(self, ask: Ask, tool: FrozenTool) -> None:
        """Refuse arguments that do not fit the frozen input schema."""
        misfits: tuple[Misfit, ...]
        if ask.unsound:
            misfits = (Misfit("", f"holds what JSON does not have: {excerpt(ask.unsound, 200)}"),)
        else:
            misfits = self.validators.arguments(tool, dict(ask.call.arguments))
        if misfits:
            message = f"the arguments do not fit the input schema of `{excerpt(tool.key)}`: {told(misfits)}"
            raise Refused(ErrorCode.INVALID_ARGUMENTS, message, detail=listed(misfits))

    def known(self, trusted: TrustedContext) -> None:
        """Refuse a caller whom the host does not name; nothing in the arguments can stand in for it."""
        missing = [name for name in ("tenant", "subject") if not getattr(trusted, name)]
        if missing:
            message = f"the host names no {' and no '.join(missing)} for the call"
            raise Refused(ErrorCode.NOT_GRANTED, message, detail={"by": "trusted_context", "missing": missing})

    def granted(self, tool: FrozenTool) -> None:
        """Refuse a tool whose server the manifest leaves out."""
        if not self.bundle.admits(tool.key):
            server = excerpt(split_key(tool.key)[0])
            message = f"the manifest does not admit the server `{server}` of `{excerpt(tool.key)}`"
            raise Refused(ErrorCode.NOT_GRANTED, message, detail={"by": "servers"})

    async def ruled(self, ask: Ask, left_s: float) -> None:
        """Ask the host's policy, which can only take away; one that fails has allowed nothing."""
        if self.policy is None:
            return
        try:
            async with asyncio.timeout(left_s):
                ruling = await self.policy.rule(ask.own_call(), ask.trusted)
        except Exception as error:  # a policy is the host's code and may raise anything
            message = (
                f"the policy could not rule on the call: {excerpt(f'{type(error).__name__}: {words_of(error)}', 300)}"
            )
            raise Refused(ErrorCode.NOT_GRANTED, message, detail={"by": "policy"}) from error
        if ruling.ruling is Ruling.REQUIRE:
            ask.exact = True
            ask.prompt = ask.prompt or ruling.reason
        elif ruling.ruling is not Ruling.ALLOW:
            message = f"the policy denies the call: {excerpt(ruling.reason or 'no reason given', 300)}"
            raise Refused(ErrorCode.NOT_GRANTED, message, detail={"by": "policy"})

    def reaches(self, tool: FrozenTool, url: str) -> None:
        """Refuse an endpoint that the manifest's `network` leaves out."""
        allowed = self.bundle.manifest.network
        if url and allowed is not None and not reaches(url, allowed):
            host, port = host_of(url)
            message = f"`{excerpt(host or 'the host')}`, which answers `{excerpt(tool.key)}`, is not in `network`"
            detail: Json = {"host": excerpt(host), "port": port}
            raise Refused(ErrorCode.NETWORK_DENIED, message, detail=detail)

    async def undrifted(self, ask: Ask, tool: FrozenTool) -> None:
        """Refuse a server that no longer offers what was frozen, or that could not be asked."""
        server, _ = split_key(tool.key)
        if not server or self.preflight is None:
            return
        check = await self.preflight.check(server, ask.run.referenced)
        if not check.ok:
            codes = [check.gap.code] if check.gap is not None else sorted({item.code for item in check.errors})
            detail: Json = {"code": codes[0], "codes": codes, "checked": check.gap is None}
            raise Refused(ErrorCode.SURFACE_DRIFT, check.why, retryable=check.gap is not None, detail=detail)

    def budgeted(self, ask: Ask, tool: FrozenTool) -> bool:
        """Count the call; return whether it was counted now, and not at an earlier attempt."""
        try:
            return ask.run.begin(tool.key, ask.key, grants.max_calls(self.bundle, tool.key))
        except BudgetError as error:
            detail: Json = {"limit": error.limit, "allowed": error.allowed}
            raise Refused(ErrorCode.BUDGET_EXCEEDED, str(error), detail=detail) from error


def told(misfits: tuple[Misfit, ...]) -> str:
    """Return the first misfits as one clause."""
    said = "; ".join(f"at `{item.pointer or '/'}`: {item.message}" for item in misfits[:_TOLD])
    return f"{said}; and {len(misfits) - _TOLD} more" if len(misfits) > _TOLD else said


def listed(misfits: tuple[Misfit, ...]) -> Json:
    """Return all misfits as data."""
    return {"errors": [{"pointer": item.pointer, "message": item.message} for item in misfits]}


def has_effect(tool: FrozenTool) -> bool:
    """Tell whether a call may change anything: all do but those that a person asserted as reads."""
    return not (tool.contract.asserted and tool.contract.effect is Effect.READ)
