"""The manifest's grammar: keys, types and descriptions; what spans fields is in `checks`."""

from __future__ import annotations

from keel.core.model import DataClass, Idempotency, Policy, Trust
from keel.manifest import words
from keel.manifest.fields import (
    AMOUNT,
    ARTIFACT,
    COUNT,
    DATE,
    HOST,
    NAME,
    PATH,
    PLAIN,
    POINTER,
    RANGE,
    SECONDS,
    SERVER_NAME,
    TOOL_KEY,
    URL,
    VARIABLE,
    choice,
    flag,
    listed,
    maybe,
    needed,
    record,
    shorthand,
    string,
    table,
    whole,
)

_EFFECT = choice(*words.EFFECTS)
_TRUST = choice(*map(str, Trust))
_POLICY = choice(*map(str, Policy))
_DATA_CLASS = choice(*map(str, DataClass))
_PRIMITIVES = listed(choice(*words.PRIMITIVES), least=1)

DEFAULTS = record(
    "What holds where a server or a grant says nothing.",
    {
        "unasserted_effect": maybe(_EFFECT, "Effect of an MCP tool that no grant asserts.", default="write"),
        "returns": maybe(_TRUST, "Whether results may steer calls, where a grant does not say.", default="trusted"),
        "policy": maybe(_POLICY, "Drift policy of servers that give none.", default="pin"),
        "timeout_s": maybe(SECONDS, "Seconds per phase of a server: spawn, first reply, list.", default=60),
        "primitives": maybe(_PRIMITIVES, "What is frozen of servers that do not say.", default=["tools"]),
    },
)

CREDENTIALS = record(
    "OAuth client credentials (RFC 6749 section 4.4).",
    {
        "client_id": needed(PLAIN, "Client identifier, or a reference."),
        "client_secret": needed(PLAIN, "Client secret; a reference such as `secret://name`."),
        "scope": maybe(PLAIN, "Requested scope, blank-separated."),
        "issuer": maybe(PLAIN, "Issuer URL of the only authorization server that may see the credentials."),
    },
)

AUTH = record(
    "How keel authenticates to a server over HTTP; exactly one of the keys.",
    {
        "client_credentials": maybe(CREDENTIALS, "Credentials of a machine."),
        "attended": maybe(flag(), "True: only a person can sign in, so nothing is checked unattended."),
    },
    minProperties=1,
    maxProperties=1,
)

MASK = record(
    "Text that legitimately differs by machine and is replaced before hashing and storing.",
    {
        "tool": maybe(PLAIN, "Tool name; absent for the server's instructions."),
        "pointer": needed(POINTER, "RFC 6901 pointer into the definition."),
        "match": needed(string(), "A linear regular expression for the text that differs."),
    },
)

_LAUNCH_PAIRS = [[first, second] for first in words.LAUNCHES for second in words.LAUNCHES if first < second]

SERVER = record(
    "How one server is reached, compared and trusted; at most one of command, url, surface and import.",
    {
        "command": maybe(listed(string(), least=1), "Program and arguments of a stdio server."),
        "url": maybe(URL, "Endpoint of a streamable HTTP server."),
        "surface": maybe(PATH, "A captured surface file, relative to the project."),
        "import": maybe(NAME, "Name in a client configuration to take the launch from; default: its own."),
        "env": maybe(table(VARIABLE, string()), "Environment of the process, literal or references."),
        "headers": maybe(table(NAME, string()), "HTTP headers, literal or references."),
        "pass_env": maybe(listed(VARIABLE), "Variables of keel's environment to hand on."),
        "cwd": maybe(PATH, "Working directory, relative to the project.", default="."),
        "auth": maybe(AUTH, "Authentication over HTTP."),
        "version": maybe(RANGE, "PEP 440 range that `serverInfo.version` must satisfy."),
        "policy": maybe(_POLICY, "How strictly drift compares the server with the lock; default: `defaults`."),
        "own": maybe(flag(), "True: quality rules apply as to native tools.", default=False),
        "publisher": maybe(PLAIN, "Who publishes the server; recorded and shown."),
        "artifact_digest": maybe(ARTIFACT, "Digest of the artefact; recorded and shown."),
        "reviewed_at": maybe(DATE, "Date of the last review."),
        "review_expires_at": maybe(DATE, "Last day, in UTC, on which the review is valid."),
        "primitives": maybe(_PRIMITIVES, "What is frozen of the server; default: `defaults`."),
        "volatile": maybe(listed(MASK), "Text that differs by machine."),
        "max_data_class": maybe(_DATA_CLASS, "Highest class of data that may reach the server."),
        "timeout_s": maybe(SECONDS, "Seconds per phase: spawn, first reply, list; default: `defaults`."),
    },
    **{"not": {"anyOf": [{"required": pair} for pair in _LAUNCH_PAIRS]}},
)

GRANT = record(
    "One granted tool and what a person asserts of it.",
    {
        "tool": needed(TOOL_KEY, "`server/tool`, the name of a native tool, or `server/*`."),
        "effect": maybe(_EFFECT, "What a call does; asserted together with `idempotency`."),
        "idempotency": maybe(choice(*map(str, Idempotency)), "What repeating a call does."),
        "approval": maybe(flag(), "True: a person approves each call. False waives nothing.", default=False),
        "max_calls": maybe(COUNT, "Calls per run."),
        "returns": maybe(_TRUST, "Whether the result may steer calls; default: `defaults`."),
        "data_class": maybe(_DATA_CLASS, "Class of the data that the tool returns."),
        "key": maybe(listed(NAME, least=1), "Arguments that identify the resource."),
        "owner": maybe(PLAIN, "Who answers for the grant; recorded and shown."),
        "permission": maybe(PLAIN, "Permission that the call needs; recorded and shown."),
        "timeout_s": maybe(SECONDS, "Seconds for one call."),
        "max_attempts": maybe(whole(1, 100), "Attempts per call."),
        "confirmation": maybe(PLAIN, "How a person confirms; recorded and shown."),
        "reason": maybe(PLAIN, "Why the assertion is safe; needed where it is safer than a native declaration."),
    },
    dependentRequired={"effect": ["idempotency"], "idempotency": ["effect"]},
    **{
        "if": {"properties": {"tool": {"pattern": r"/\*$"}}, "required": ["tool"]},
        "then": {"propertyNames": {"enum": list(words.WILDCARD_KEYS)}},
    },
)


_GRANT_ENTRY = shorthand(
    "tool",
    GRANT,
    {
        "pattern": f"^(?:{words.TOOL_KEY})$",
        "description": "A grant that asserts nothing: `server/tool`, the name of a native tool, or `server/*`.",
    },
)

BUDGET = record(
    "Bounds of one run.",
    {
        "cost_usd": maybe(AMOUNT, "US dollars."),
        "tokens": maybe(COUNT, "Model tokens."),
        "wall_seconds": maybe(AMOUNT, "Seconds."),
    },
)

MANIFEST = record(
    "A keel capability manifest: an absent section is unconstrained, a present one a list, an empty one nothing.",
    {
        "version": needed(choice(1), "Version of this grammar."),
        "defaults": maybe(DEFAULTS, "What holds where a server or a grant says nothing."),
        "servers": maybe(
            table(SERVER_NAME, SERVER), "Allowed servers by name; absent: any server of the client configurations."
        ),
        "tools": maybe(listed(_GRANT_ENTRY), "Allowed tools; absent: any."),
        "reasoners": maybe(listed(NAME), "Allowed reasoners by name; absent: any."),
        "models": maybe(listed(NAME), "Allowed models; absent: any."),
        "scopes": maybe(listed(NAME), "Session context that reasoners and agents may read; absent: any."),
        "network": maybe(listed(HOST), "Hosts that native tools may reach; absent: any."),
        "budget": maybe(BUDGET, "Bounds of one run."),
        "fail_on": maybe(
            table(NAME, choice("error", "warning", "info", "never")), "Severities of drift by kind or group of kinds."
        ),
    },
)

PLACES = {
    (): MANIFEST,
    ("defaults",): DEFAULTS,
    ("servers", "*"): SERVER,
    ("servers", "*", "auth"): AUTH,
    ("servers", "*", "auth", "client_credentials"): CREDENTIALS,
    ("servers", "*", "volatile", "*"): MASK,
    ("tools", "*"): GRANT,
    ("budget",): BUDGET,
}
"""The record that stands at each place of a manifest; `*` is any key or index."""
