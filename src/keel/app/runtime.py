"""The wiring that `keel call`, `keel serve` and `keel run` share: bundle, servers, stores and dispatcher."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from keel.app.keys import read_verifier
from keel.core.launch import Failure, Launch
from keel.core.model import NATIVE, ServerSpec, split_key
from keel.core.redact import Redactor
from keel.core.text import did_you_mean, escape
from keel.errors import UsageError
from keel.runtime.bundle import Bundle
from keel.runtime.clock import SystemClock
from keel.runtime.comparing import credential_names
from keel.runtime.dispatch import Dispatcher
from keel.runtime.limits import Limits
from keel.runtime.loading import Loaded, load
from keel.runtime.model import TrustedContext
from keel.runtime.native import InProcessTools
from keel.runtime.ports import AuditLog, Clock, Ledger, NativeTools
from keel.store.audit import AuditFile
from keel.store.env import resolve_launch
from keel.store.ledgers import open_ledger
from keel.store.private import AUDIT, STORE
from keel.store.project import bundle_file, project_root
from keel.store.secrets import (
    SHORTEST_AT_RUN_TIME,
    CommandSecret,
    Source,
    given_secrets,
    overridden,
    read_secret,
)
from keel.upstream.http_tools import HttpTools
from keel.upstream.pool import McpUpstream


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """What an operator says about a run; nothing of it comes from the bundle, a client or a model."""

    bundle: Path
    environ: Mapping[str, str]
    project: Path | None = None
    """Folder from which the bundle's relative paths count; default: the project here, or the working directory."""
    signers: tuple[Path, ...] = ()
    """Public keys of those whose bundles are accepted: files, or folders of them."""
    allow_unsigned: bool = False
    min_sequence: int | None = None
    store: str = ""
    """Path or URL of the ledger; default: `.keel/state.sqlite` below the project."""
    audit: str = ""
    """Path of the audit log; default: `.keel/audit.jsonl` below the project."""
    tenant: str = "local"
    subject: str = "local"
    run_id: str = ""
    secrets: tuple[str, ...] = ()
    """`NAME=env:VARIABLE` or `NAME=file:PATH`, each."""
    secret_commands: tuple[str, ...] = ()
    """`NAME=COMMAND WORD…`, each."""
    tool_urls: tuple[str, ...] = ()
    """`NAME=URL`, each: native tools that run elsewhere."""
    limits: Limits = field(default_factory=Limits)
    needs_native: Callable[[Bundle], bool] = lambda bundle: bool(bundle.natives)
    """Whether native tools may be called in this process, which imports the project's modules."""

    def forgetful(self) -> RuntimeOptions:
        """Return the same for calls with ids of their own, where the result of a read is never asked for again."""
        return replace(self, limits=replace(self.limits, durable_reads=False))


@dataclass(frozen=True, slots=True)
class Runtime:
    """Everything that a run needs, open."""

    bundle: Bundle
    root: Path
    dispatcher: Dispatcher
    ledger: Ledger
    audit: AuditLog
    upstream: McpUpstream
    trusted: TrustedContext
    redactor: Redactor
    clock: Clock
    store: str
    """Path or URL of the ledger."""
    loaded: Loaded | None = None
    """The project's modules, where native tools run in this process."""


def default_bundle(project: Path | None) -> Path:
    """Return where `keel bundle` puts the bundle of a project.

    Args:
        project: the project's folder; None looks for it from the working directory up.

    Raises:
        UsageError: if there is no project.
    """
    root = project.resolve() if project is not None else project_root(Path.cwd())
    if root is None:
        raise UsageError("no bundle is named, and there is no project here", hint="name the bundle's file")
    return bundle_file(root)


def here(options: RuntimeOptions) -> Path:
    """Return the folder from which the bundle's relative paths count."""
    if options.project is not None:
        return options.project.resolve()
    working = Path.cwd()
    return project_root(working) or working


def opened(options: RuntimeOptions) -> Bundle:
    """Open the bundle that the options name.

    Raises:
        InputErrors: with every reason to refuse it.
        UsageError: if there is none.
    """
    try:
        return Bundle.open(
            options.bundle,
            verifier=read_verifier(options.signers),
            allow_unsigned=options.allow_unsigned,
            min_sequence=options.min_sequence,
        )
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(
            f"bundle `{escape(str(options.bundle))}` cannot be read: {reason}", hint="`keel bundle` writes one"
        ) from error


@asynccontextmanager
async def runtime(options: RuntimeOptions) -> AsyncIterator[Runtime]:
    """Open everything, and leave nothing behind: no process, no file handle.

    Raises:
        InputErrors: if the bundle is refused, or its sources differ from the project's.
        UsageError: if an option cannot be carried out.
        StoreUnavailable: if the ledger or the audit log cannot be used.
    """
    bundle, root, clock, redactor = opened(options), here(options), SystemClock(), Redactor()
    given = given_secrets(options.secrets, options.secret_commands, Path.cwd())
    urls = _tool_urls(options.tool_urls, bundle)
    store = options.store or str(root / STORE)
    async with AsyncExitStack() as stack:
        loaded = load(bundle, root) if options.needs_native(bundle) else None
        if loaded is not None:
            stack.callback(loaded.unload)
        ledger = open_ledger(store, clock)
        stack.callback(ledger.close)
        audit = AuditFile.open(Path(options.audit) if options.audit else root / AUDIT, clock)
        stack.callback(audit.close)
        upstream = await stack.enter_async_context(_upstream(bundle, root, options.environ, given, redactor))
        native: NativeTools | None = InProcessTools(loaded.natives) if loaded is not None else None
        if urls:
            native = await stack.enter_async_context(HttpTools(urls, redactor=redactor, others=native))
        dispatcher = Dispatcher(
            bundle,
            upstream=upstream,
            ledger=ledger,
            audit=audit,
            native=native,
            clock=clock,
            redactor=redactor,
            limits=options.limits,
        )
        trusted = TrustedContext(tenant=options.tenant, subject=options.subject, run_id=options.run_id)
        yield Runtime(
            bundle, root, dispatcher, ledger, audit, upstream, trusted, redactor, clock, store=store, loaded=loaded
        )


def native_keys(bundle: Bundle, tool_urls: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the admitted native tools that no URL stands for."""
    elsewhere = {text.partition("=")[0] for text in tool_urls}
    keys = (key for key in bundle.tools if split_key(key)[0] == NATIVE and bundle.admits(key))
    return frozenset(key for key in keys if key not in elsewhere)


def _upstream(
    bundle: Bundle, root: Path, environ: Mapping[str, str], given: tuple[Source, ...], redactor: Redactor
) -> McpUpstream:
    _check_secrets(bundle, given)
    sources = overridden(bundle.secrets.values(), given)
    _learn(sources, root, environ, redactor)
    resolvers = {
        name: partial(_resolved, spec, root, environ, sources, _protocol(bundle, name))
        for name, spec in bundle.servers.items()
    }
    endpoints = {name: _endpoint(bundle.servers[name], resolve) for name, resolve in resolvers.items()}
    return McpUpstream(resolvers, endpoints=endpoints, redactor=redactor)


def _check_secrets(bundle: Bundle, given: tuple[Source, ...]) -> None:
    """Refuse a source of a secret that nothing in the bundle names: it was meant for another name."""
    launches = (name for spec in bundle.servers.values() for name in credential_names(spec))
    known = sorted({*bundle.secrets, *(name[7:] for name in launches if name.startswith("secret:"))})
    for source in given:
        if source.name not in known:
            hint = did_you_mean(source.name, known) or f"secrets of the bundle: {', '.join(known) or 'none'}"
            raise UsageError(f"the bundle names no secret `{escape(source.name)}`", hint=hint)


def _learn(sources: tuple[Source, ...], root: Path, environ: Mapping[str, str], redactor: Redactor) -> None:
    """Keep secrets out of messages from the first one on, also out of those about calls that never reach a server.

    What a command prints is learned when it is asked: asking may take long, or need a person.
    """
    values = (read_secret(source, root, environ) for source in sources if not isinstance(source, CommandSecret))
    # A shorter one is refused, never sent, and may be a word that messages need.
    redactor.learn(*(value for value in values if value is not None and len(value) >= SHORTEST_AT_RUN_TIME))


def _resolved(
    spec: ServerSpec, root: Path, environ: Mapping[str, str], sources: tuple[Source, ...], protocol: str | None
) -> Launch | Failure:
    launch = resolve_launch(spec, root=root, environ=environ, secrets=sources, shortest=SHORTEST_AT_RUN_TIME)
    return launch if isinstance(launch, Failure) else replace(launch, protocol=protocol)


def _protocol(bundle: Bundle, server: str) -> str | None:
    locked = bundle.lock.index.server(server)
    return locked.protocol or None if locked is not None else None


def _endpoint(spec: ServerSpec, resolve: Callable[[], Launch | Failure]) -> str:
    """Return where calls go, for the network allow-list; a URL that holds references is resolved for it."""
    if "${" not in spec.url and "secret://" not in spec.url:
        return spec.url
    launch = resolve()
    return launch.url if isinstance(launch, Launch) else spec.url


def _tool_urls(texts: tuple[str, ...], bundle: Bundle) -> dict[str, str]:
    found: dict[str, str] = {}
    known = [key for key in bundle.tools if split_key(key)[0] == NATIVE]
    for text in texts:
        name, _, url = text.partition("=")
        if not url.startswith(("http://", "https://")):
            raise UsageError(f"`--tool-url {escape(name)}=…` names no URL", hint="write `NAME=https://…`")
        if name not in known:
            hint = did_you_mean(name, known) or f"native tools of the bundle: {', '.join(known) or 'none'}"
            raise UsageError(f"the bundle holds no native tool `{escape(name)}`", hint=hint)
        found[name] = url
    return found
