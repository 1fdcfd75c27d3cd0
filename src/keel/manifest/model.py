"""The manifest's grammar as pydantic models: types, patterns and descriptions; what spans fields is in `checks`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from keel.manifest import words
from keel.manifest.fields import (
    ArtifactDigest,
    DateText,
    Name,
    NetworkHost,
    Pointer,
    PublicText,
    RangeText,
    RelativePath,
    ServerName,
    ToolKey,
    Url,
    VariableName,
)

EffectWord = Literal[
    "read",
    "write",
    "external",
    "dangerous",
    "none",
    "write_reversible",
    "write_irreversible",
    "external_communication",
]
"""Effects and their aliases; `words.EFFECTS` says what each means."""
IdempotencyWord = Literal["none", "best_effort", "native", "required"]
DataClassWord = Literal["public", "internal", "confidential", "restricted"]
TrustWord = Literal["trusted", "untrusted"]
PolicyWord = Literal["pin", "compatible", "names", "off"]
Primitives = Annotated[list[Literal["tools", "prompts", "resources"]], Field(min_length=1)]
SeverityWord = Literal["error", "warning", "info", "never"]

Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
Amount = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]


class Closed(BaseModel):
    """A mapping with known keys only, read without conversion between types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class DefaultsModel(Closed):
    """What holds where a server or a grant says nothing."""

    unasserted_effect: EffectWord = Field("write", description="Effect of an MCP tool that no grant asserts.")
    returns: TrustWord = Field("trusted", description="Whether results may steer calls, where a grant does not say.")
    policy: PolicyWord = Field("pin", description="Drift policy of servers that give none.")
    timeout_s: Seconds = Field(60.0, description="Seconds per phase of a server: spawn, first reply, list.")
    primitives: Primitives = Field(["tools"], description="What is frozen of servers that do not say.")


class CredentialsModel(Closed):
    """OAuth client credentials (RFC 6749 section 4.4)."""

    client_id: PublicText = Field(description="Client identifier, or a reference.")
    client_secret: PublicText = Field(description="Client secret; a reference such as `secret://name`.")
    scope: PublicText | None = Field(None, description="Requested scope, blank-separated.")


class AuthModel(Closed):
    """How keel authenticates to a server over HTTP; exactly one of the keys."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    client_credentials: CredentialsModel | None = Field(None, description="Credentials of a machine.")
    attended: bool | None = Field(
        None, description="True: only a person can sign in, so nothing is checked unattended."
    )


class MaskModel(Closed):
    """Text that legitimately differs by machine and is replaced before hashing and storing."""

    tool: PublicText | None = Field(None, description="Tool name; absent for the server's instructions.")
    pointer: Pointer = Field(description="RFC 6901 pointer into the definition.")
    match: str = Field(description="A linear regular expression for the text that differs.")


def _one_launch(schema: dict[str, Any]) -> None:
    pairs = [(first, second) for index, first in enumerate(words.LAUNCHES) for second in words.LAUNCHES[index + 1 :]]
    schema["not"] = {"anyOf": [{"required": list(pair)} for pair in pairs]}


class ServerModel(Closed):
    """How one server is reached, compared and trusted; at most one of command, url, surface and import."""

    model_config = ConfigDict(json_schema_extra=_one_launch)

    command: Annotated[list[str], Field(min_length=1)] | None = Field(
        None, description="Program and arguments of a stdio server."
    )
    url: Url | None = Field(None, description="Endpoint of a streamable HTTP server.")
    surface: RelativePath | None = Field(None, description="A captured surface file, relative to the project.")
    import_: Name | None = Field(
        None, alias="import", description="Name in a client configuration to take the launch from; default: its own."
    )
    env: dict[VariableName, str] | None = Field(None, description="Environment of the process, literal or references.")
    headers: dict[Name, str] | None = Field(None, description="HTTP headers, literal or references.")
    pass_env: list[VariableName] | None = Field(None, description="Variables of keel's environment to hand on.")
    cwd: RelativePath | None = Field(None, description="Working directory, relative to the project.")
    auth: AuthModel | None = Field(None, description="Authentication over HTTP.")
    version: RangeText | None = Field(None, description="PEP 440 range that `serverInfo.version` must satisfy.")
    policy: PolicyWord | None = Field(None, description="How strictly drift compares the server with the lock.")
    own: bool = Field(False, description="True: quality rules apply as to native tools.")
    publisher: PublicText | None = Field(None, description="Who publishes the server; recorded and shown.")
    artifact_digest: ArtifactDigest | None = Field(None, description="Digest of the artefact; recorded and shown.")
    reviewed_at: DateText | None = Field(None, description="Date of the last review.")
    review_expires_at: DateText | None = Field(None, description="Last day, in UTC, on which the review is valid.")
    primitives: Primitives | None = Field(None, description="What is frozen of the server.")
    volatile: list[MaskModel] | None = Field(None, description="Text that differs by machine.")
    max_data_class: DataClassWord | None = Field(None, description="Highest class of data that may reach the server.")
    timeout_s: Seconds | None = Field(None, description="Seconds per phase: spawn, first reply, list.")


class GrantModel(Closed):
    """One granted tool and what a person asserts of it."""

    model_config = ConfigDict(
        json_schema_extra={
            "dependentRequired": {"effect": ["idempotency"], "idempotency": ["effect"]},
            "if": {"properties": {"tool": {"pattern": r"/\*$"}}, "required": ["tool"]},
            "then": {"propertyNames": {"enum": list(words.WILDCARD_KEYS)}},
        }
    )

    tool: ToolKey = Field(description="`server/tool`, the name of a native tool, or `server/*`.")
    effect: EffectWord | None = Field(None, description="What a call does; asserted together with `idempotency`.")
    idempotency: IdempotencyWord | None = Field(None, description="What repeating a call does.")
    approval: bool = Field(False, description="True: a person approves each call. False waives nothing.")
    max_calls: Count | None = Field(None, description="Calls per run.")
    returns: TrustWord | None = Field(None, description="Whether the result may steer calls; default: `defaults`.")
    data_class: DataClassWord | None = Field(None, description="Class of the data that the tool returns.")
    key: Annotated[list[Name], Field(min_length=1)] | None = Field(
        None, description="Arguments that identify the resource."
    )
    owner: PublicText | None = Field(None, description="Who answers for the grant; recorded and shown.")
    permission: PublicText | None = Field(None, description="Permission that the call needs; recorded and shown.")
    timeout_s: Seconds | None = Field(None, description="Seconds for one call.")
    max_attempts: Annotated[int, Field(ge=1, le=100)] | None = Field(None, description="Attempts per call.")
    confirmation: PublicText | None = Field(None, description="How a person confirms; recorded and shown.")
    reason: PublicText | None = Field(
        None, description="Why the assertion is safe; needed when it is safer than a native declaration."
    )


class _OrText:
    """Shows in the JSON Schema that a plain text stands for a mapping with that `tool`."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        text = {
            "type": "string",
            "pattern": f"^(?:{words.TOOL_KEY})$",
            "description": "A grant that asserts nothing: `server/tool`, the name of a native tool, or `server/*`.",
        }
        return {"anyOf": [text, handler(schema)]}


def _as_grant(value: Any) -> Any:
    return {"tool": value} if isinstance(value, str) else value


GrantEntry = Annotated[GrantModel, BeforeValidator(_as_grant), _OrText()]


class BudgetModel(Closed):
    """Bounds of one run."""

    cost_usd: Amount | None = Field(None, description="US dollars.")
    tokens: Count | None = Field(None, description="Model tokens.")
    wall_seconds: Amount | None = Field(None, description="Seconds.")


class ManifestModel(Closed):
    """A keel capability manifest: an absent section is unconstrained, a present one a list, an empty one nothing."""

    version: Literal[1] = Field(description="Version of this grammar.")
    defaults: DefaultsModel | None = Field(None, description="What holds where a server or a grant says nothing.")
    servers: dict[ServerName, ServerModel] | None = Field(
        None, description="Allowed servers by name; absent: any of the client configurations."
    )
    tools: list[GrantEntry] | None = Field(None, description="Allowed tools; absent: any.")
    reasoners: list[Name] | None = Field(None, description="Allowed reasoners by name; absent: any.")
    models: list[Name] | None = Field(None, description="Allowed models; absent: any.")
    scopes: list[Name] | None = Field(None, description="Session context that reasoners and agents may read.")
    network: list[NetworkHost] | None = Field(None, description="Hosts that native tools may reach; absent: any.")
    budget: BudgetModel | None = Field(None, description="Bounds of one run.")
    fail_on: dict[Name, SeverityWord] | None = Field(None, description="Severities of drift by kind or group of kinds.")


MODELS: dict[tuple[str, ...], type[BaseModel]] = {
    (): ManifestModel,
    ("defaults",): DefaultsModel,
    ("servers", "*"): ServerModel,
    ("servers", "*", "auth"): AuthModel,
    ("servers", "*", "auth", "client_credentials"): CredentialsModel,
    ("servers", "*", "volatile", "*"): MaskModel,
    ("tools", "*"): GrantModel,
    ("budget",): BudgetModel,
}
"""The model that stands at each place of a manifest; `*` is any key or index."""
