"""Manifest text to the `Manifest` value, or to every error at once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from keel.core.finding import InputErrors
from keel.core.model import (
    Budget,
    ClientCredentials,
    DataClass,
    Defaults,
    Grant,
    Idempotency,
    Manifest,
    Policy,
    ServerSpec,
    Transport,
    Trust,
    VolatileMask,
)
from keel.manifest import severities, words
from keel.manifest.checks import check_manifest
from keel.manifest.model import (
    MODELS,
    CredentialsModel,
    DefaultsModel,
    GrantModel,
    ManifestModel,
    MaskModel,
    ServerModel,
)
from keel.manifest.problems import Document, Path, Problem, findings, pointer
from keel.manifest.shape import validate
from keel.manifest.yamltree import read_yaml

CODE = "manifest-error"
_LINE_DEPTH = 3
"""How deep the keys lie whose lines a manifest remembers: `/servers/search/policy`."""


def parse_manifest(text: str, file: str) -> Manifest:
    """Parse a capability manifest.

    Args:
        text: the whole file, decoded; CR LF and a byte order mark are accepted.
        file: its path relative to the project, with forward slashes; it stands in every finding.

    Raises:
        InputErrors: with a `manifest-error` for every error of the document, each with file, line, column, pointer
            and suggestion. After a YAML syntax error nothing further is known, so that it stands alone.
    """
    document = read_yaml(text)
    problems = list(document.problems)
    model: ManifestModel | None = None
    if document.readable and document.value is None:
        problems.append(Problem((), "the manifest is empty", "begin with `version: 1`"))
    elif document.readable:
        model, wrong = validate(ManifestModel, document, MODELS)
        problems.extend(wrong)
        problems.extend(check_manifest(document))
    if problems or model is None:
        raise InputErrors(findings(CODE, file, document, problems))
    return _manifest(model, document, file)


def _manifest(model: ManifestModel, document: Document, file: str) -> Manifest:
    defaults = _defaults(model.defaults) if model.defaults else Defaults()
    servers = None
    if model.servers is not None:
        servers = tuple(
            _server(name, server, defaults, document, file) for name, server in sorted(model.servers.items())
        )
    tools = None
    if model.tools is not None:
        tools = tuple(_grant(grant, ("tools", index), document) for index, grant in enumerate(model.tools))
    budget = model.budget
    return Manifest(
        file=file,
        defaults=defaults,
        servers=servers,
        tools=tools,
        reasoners=_tuple(model.reasoners),
        models=_tuple(model.models),
        scopes=_tuple(model.scopes),
        network=_tuple(model.network),
        budget=None if budget is None else Budget(budget.cost_usd, budget.tokens, budget.wall_seconds),
        fail_on=severities.settle(model.fail_on or {}),
        lines=_lines(document),
    )


def _tuple(entries: list[str] | None) -> tuple[str, ...] | None:
    return None if entries is None else tuple(entries)


def _lines(document: Document) -> tuple[tuple[str, int], ...]:
    places = {path: document.key_at(path).line for path in document.values if len(path) <= _LINE_DEPTH}
    return tuple(sorted((pointer(path), line) for path, line in places.items()))


def _defaults(model: DefaultsModel) -> Defaults:
    return Defaults(
        unasserted_effect=words.EFFECTS[model.unasserted_effect],
        returns=Trust(model.returns),
        policy=Policy(model.policy),
        timeout_s=float(model.timeout_s),
        primitives=_primitives(model.primitives),
    )


def _primitives(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in ("tools", "prompts", "resources") if name in names)


def _server(name: str, model: ServerModel, defaults: Defaults, document: Document, file: str) -> ServerSpec:
    path: Path = ("servers", name)
    at = document.key_at(path)
    return ServerSpec(
        name=name,
        transport=_transport(model),
        command=tuple(model.command or ()),
        url=model.url or "",
        surface=model.surface or "",
        imported=model.import_ or (name if _transport(model) is Transport.IMPORT else ""),
        env=tuple(sorted((model.env or {}).items())),
        headers=tuple(sorted((model.headers or {}).items())),
        pass_env=tuple(sorted(set(model.pass_env or ()))),
        cwd=model.cwd or ".",
        client_credentials=_credentials(model.auth.client_credentials if model.auth else None),
        attended=bool(model.auth and model.auth.attended),
        version=model.version,
        policy=Policy(model.policy) if model.policy else defaults.policy,
        own=model.own,
        publisher=model.publisher,
        artifact_digest=model.artifact_digest,
        reviewed_at=_date(model.reviewed_at),
        review_expires_at=_date(model.review_expires_at),
        primitives=_primitives(model.primitives) if model.primitives else defaults.primitives,
        volatile=tuple(
            _mask(mask, (*path, "volatile", index), document) for index, mask in enumerate(model.volatile or ())
        ),
        max_data_class=DataClass(model.max_data_class) if model.max_data_class else None,
        timeout_s=float(model.timeout_s) if model.timeout_s is not None else defaults.timeout_s,
        file=file,
        line=at.line,
        column=at.column,
    )


def _credentials(model: CredentialsModel | None) -> ClientCredentials | None:
    return ClientCredentials(model.client_id, model.client_secret, model.scope) if model else None


def _transport(model: ServerModel) -> Transport:
    if model.command is not None:
        return Transport.STDIO
    if model.url is not None:
        return Transport.HTTP
    return Transport.SURFACE if model.surface is not None else Transport.IMPORT


def _date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _mask(model: MaskModel, path: Path, document: Document) -> VolatileMask:
    at = document.value_at(path)
    return VolatileMask(model.tool or "", model.pointer, model.match, at.line, at.column)


def _grant(model: GrantModel, path: Path, document: Document) -> Grant:
    at = document.value_at(path)
    return Grant(
        tool=model.tool,
        effect=words.EFFECTS[model.effect] if model.effect else None,
        idempotency=Idempotency(model.idempotency) if model.idempotency else None,
        approval=model.approval,
        max_calls=model.max_calls,
        returns=Trust(model.returns) if model.returns else None,
        data_class=DataClass(model.data_class) if model.data_class else None,
        key=tuple(model.key or ()),
        owner=model.owner,
        permission=model.permission,
        timeout_s=model.timeout_s,
        max_attempts=model.max_attempts,
        confirmation=model.confirmation,
        reason=model.reason,
        line=at.line,
        column=at.column,
    )
