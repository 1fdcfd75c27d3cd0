"""`keel serve`: the gateway, from its options to its end."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from keel.app.call import approve_command
from keel.app.runtime import Runtime, RuntimeOptions, runtime
from keel.capture.pool import silent_libraries, terminable
from keel.core.text import escape, plural
from keel.errors import UsageError
from keel.gateway.approvals import Elicitation
from keel.gateway.http import PATH, SHORTEST_TOKEN, listen, serve_http
from keel.gateway.server import Gateway
from keel.gateway.stdio import serve_stdio

Say = Callable[[str], None]
"""Writes one line to standard error."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What the command line asks for."""

    http: str = ""
    """`[HOST:]PORT`; empty for standard input and output."""
    token_env: str = ""
    token_file: Path | None = None
    elicit: bool = False
    max_request_bytes: int = 4 * 1024 * 1024
    rate: float = 100.0
    """Calls a second in the long run; 0 for any number."""


def serve(options: RuntimeOptions, asked: ServeOptions, say: Say) -> None:
    """Serve until the client is gone, or the process is told to end.

    Raises:
        KeelError: if the bundle, a store or an option cannot be used.
    """
    with silent_libraries():
        terminable(partial(_serve, options.forgetful(), asked, say))


async def _serve(options: RuntimeOptions, asked: ServeOptions, say: Say) -> None:
    token = _token(options, asked) if asked.http else ""
    async with runtime(options) as ready, anyio.create_task_group() as tasks:
        gateway = Gateway(
            ready.dispatcher,
            ready.trusted,
            ready.clock,
            asked.rate,
            advice=partial(approve_command, store=options.store),
            redactor=ready.redactor,
            elicitation=Elicitation(ready.ledger) if asked.elicit else None,
        )
        tasks.start_soon(_compare, ready, say)
        server = gateway.server()
        if asked.http:
            ready.redactor.learn(token)
            where = listen(asked.http)
            place = f"http://{_host(where.getsockname())}{PATH}"
            shown = "" if asked.token_env or asked.token_file else f" with bearer token {token}"
            said = f"serving {plural(gateway.count, 'tool')} at {place}{shown}"
            await serve_http(server, where, token=token, limit=asked.max_request_bytes, ready=lambda: say(said))
        else:
            await serve_stdio(server, limit=asked.max_request_bytes)
        tasks.cancel_scope.cancel()


async def _compare(ready: Runtime, say: Say) -> None:
    """Compare every server at once, so that the first call does not wait for it; a call asks again if need be."""
    report = await ready.dispatcher.preflight(sorted(ready.bundle.servers))
    for check in report.checks:
        if not check.ok:
            say(f"warning: {check.why}; calls to `{escape(check.server)}` are refused until that is settled")


def _token(options: RuntimeOptions, asked: ServeOptions) -> str:
    if asked.token_env:
        token, where = options.environ.get(asked.token_env, ""), f"environment variable `{escape(asked.token_env)}`"
    elif asked.token_file is not None:
        where = f"file `{escape(str(asked.token_file))}`"
        try:
            token = asked.token_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            token = ""
    else:
        return secrets.token_urlsafe(32)
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"the token in {where} is missing, shorter than {SHORTEST_TOKEN} characters, or no single ASCII word",
            hint="""make one with `python3 -c "import secrets; print(secrets.token_urlsafe(32))"`""",
        )
    return token


def _host(place: tuple[str, int]) -> str:
    host, port = place[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
