"""The manifest: the whole grammar, and every error at once with its place and a suggestion."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.core.finding import InputErrors
from keel.core.model import (
    Budget,
    ClientCredentials,
    DataClass,
    Effect,
    Idempotency,
    Policy,
    Transport,
    Trust,
    VolatileMask,
)
from keel.manifest.parse import parse_manifest

WHOLE = """\
version: 1
defaults: {unasserted_effect: dangerous, returns: untrusted, policy: compatible, timeout_s: 30, primitives: [prompts, tools]}
servers:
  search:
    command: [uvx, "search-mcp==2.3.1"]
    env: {API_KEY: "secret://search_key", MODE: "x ${VAR:-d}"}
    pass_env: [HTTPS_PROXY, A]
    cwd: sub
    version: ">=2.3,<3"
    policy: names
    own: true
    publisher: platform-ai
    artifact_digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000"
    reviewed_at: 2026-07-15
    review_expires_at: 2027-01-15
    primitives: [tools]
    volatile:
      - {tool: convert_time, pointer: /inputSchema/properties/tz/description, match: "'[A-Za-z_/]+'"}
    max_data_class: internal
    timeout_s: 5
  remote:
    url: https://mcp.example/mcp
    headers: {Authorization: "Bearer ${secret:t}"}
    auth: {client_credentials: {client_id: "secret://cid", client_secret: "secret://cs", scope: read}}
  desk: {url: "https://${HOST}/mcp", auth: {attended: true}}
  frozen: {surface: captured.json}
  own_name: {}
  imported: {import: microsoft/search-mcp}
tools:
  - {tool: search/query, effect: read, idempotency: native, max_calls: 8, returns: trusted}
  - {tool: billing/refund, effect: write_irreversible, idempotency: required, approval: true, data_class: confidential,
     owner: pay, permission: refund, timeout_s: 1.5, max_attempts: 2, confirmation: typed, key: [charge, amount], reason: why}
  - search/*
  - lookup_ticket
reasoners: [support_reply]
models: ["anthropic:claude-haiku-4-5"]
scopes: [local, summary]
network: [tools.internal.example, "*.api.example:443", localhost]
budget: {cost_usd: 0.25, tokens: 20000}
fail_on: {widened: never, input-widened: error, text: error}
"""


def errors(text):
    with pytest.raises(InputErrors) as caught:
        parse_manifest(text, "keel.yaml")
    for item in caught.value.findings:
        assert item.code == "manifest-error"
        assert item.location.file == "keel.yaml"
        assert item.location.line > 0
        assert item.location.column > 0
        assert item.next
    return caught.value.findings


def outcome(text):
    try:
        return parse_manifest(text, "k"), ()
    except InputErrors as error:
        return None, error.findings


def told(text):
    return [(item.location.line, item.location.pointer, item.message) for item in errors(text)]


def test_the_whole_grammar():
    manifest = parse_manifest(WHOLE, "keel.yaml")
    assert manifest.exists
    assert manifest.defaults.unasserted_effect is Effect.DANGEROUS
    assert manifest.defaults.primitives == ("tools", "prompts")
    servers = {server.name: server for server in manifest.servers}
    assert list(servers) == sorted(servers)
    search = servers["search"]
    assert search.transport is Transport.STDIO
    assert search.command == ("uvx", "search-mcp==2.3.1")
    assert search.env == (("API_KEY", "secret://search_key"), ("MODE", "x ${VAR:-d}"))
    assert search.pass_env == ("A", "HTTPS_PROXY")
    assert (search.cwd, search.version, search.policy, search.own) == ("sub", ">=2.3,<3", Policy.NAMES, True)
    assert (search.reviewed_at, search.review_expires_at) == (date(2026, 7, 15), date(2027, 1, 15))
    assert search.volatile == (
        VolatileMask("convert_time", "/inputSchema/properties/tz/description", "'[A-Za-z_/]+'", 18, 9),
    )
    assert (search.max_data_class, search.timeout_s, search.line, search.column) == (DataClass.INTERNAL, 5, 4, 3)
    remote = servers["remote"]
    assert (remote.transport, remote.policy, remote.timeout_s) == (Transport.HTTP, Policy.COMPATIBLE, 30)
    assert remote.client_credentials == ClientCredentials("secret://cid", "secret://cs", "read")
    assert remote.headers == (("Authorization", "Bearer ${secret:t}"),)
    assert servers["desk"].attended
    assert servers["frozen"].transport is Transport.SURFACE
    assert (servers["own_name"].transport, servers["own_name"].imported) == (Transport.IMPORT, "own_name")
    assert servers["imported"].imported == "microsoft/search-mcp"
    query, refund, wildcard, plain = manifest.tools
    assert (query.effect, query.idempotency, query.max_calls) == (Effect.READ, Idempotency.NATIVE, 8)
    assert (query.returns, refund.returns) == (Trust.TRUSTED, None)
    assert (refund.effect, refund.approval, refund.key) == (Effect.DANGEROUS, True, ("charge", "amount"))
    assert (refund.max_attempts, refund.timeout_s, refund.reason) == (2, 1.5, "why")
    assert wildcard.is_wildcard
    assert (plain.tool, plain.effect, plain.line, plain.column) == ("lookup_ticket", None, 34, 5)
    assert manifest.budget == Budget(0.25, 20000, None)
    assert manifest.fail_on == (
        ("input-widened", "error"),
        ("instructions-changed", "error"),
        ("output-widened", "never"),
        ("parameter-undocumented", "error"),
        ("text-changed", "error"),
    )
    lines = dict(manifest.lines)
    assert (lines["/servers"], lines["/servers/search"], lines["/tools/3"], lines["/servers/search/policy"]) == (
        3,
        4,
        34,
        10,
    )


def test_line_ends_and_byte_order_mark_change_nothing():
    assert parse_manifest("\ufeff" + WHOLE.replace("\n", "\r\n"), "keel.yaml") == parse_manifest(WHOLE, "keel.yaml")


@pytest.mark.parametrize("section", ["tools", "reasoners", "models", "scopes", "network"])
def test_absent_empty_and_valueless_sections_differ(section):
    assert getattr(parse_manifest("version: 1", "k"), section) is None
    assert getattr(parse_manifest(f"version: 1\n{section}: []", "k"), section) == ()
    assert told(f"version: 1\n{section}:\n")[0][:2] == (2, f"/{section}")


def test_c031_an_empty_list_allows_nothing_and_names_are_exact():
    assert not parse_manifest("version: 1\ntools: []", "k").admits("gh/x")
    exact = parse_manifest("version: 1\ntools: [GH/x, a/*]", "k")
    assert [exact.admits(key) for key in ("GH/x", "gh/x", "a/anything", "ab/x")] == [True, False, True, False]
    assert told("version: 1\ntools: [' gh/x ']")[0][2] == "`tool`: ` gh/x ` begins or ends with white space"


def test_servers_absent_and_empty():
    assert parse_manifest("version: 1", "k").servers is None
    assert parse_manifest("version: 1\nservers: {}", "k").servers == ()


def test_all_errors_come_at_once_and_in_order():
    found = told(
        """\
version: 1
servers:
  a: {command: npx -y x, evn: {A: 1}}
  A: {command: [x], url: "https://x/y"}
tools:
  - {tool: x/y, effect: read, aproval: always}
  - x/y
toools: []
"""
    )
    assert [line for line, _, _ in found] == [3, 3, 4, 4, 6, 6, 7, 8]


GRANT = "version: 1\ntools:\n  - "
SERVER = "version: 1\nservers:\n  s: "


@pytest.mark.parametrize(
    ("text", "pointer", "message", "hint"),
    [
        (
            GRANT + "{tool: a/b, approval: always}",
            "/tools/0/approval",
            "`approval` must be `true` or `false`, not the text `always`",
            "write `true` or `false`",
        ),
        (
            GRANT + "{tool: a/b, approval: yes}",
            "/tools/0/approval",
            "`approval` must be `true` or `false`, not the text `yes`",
            "write `true`, without quotes",
        ),
        (GRANT + "{tool: a/b, approval: 1}", "/tools/0/approval", "`approval` must be `true` or `false`, not `1`", ""),
        (
            GRANT + "{tool: a/b, aproval: true}",
            "/tools/0/aproval",
            "`aproval` is not a key of a grant",
            "did you mean `approval`?",
        ),
        (
            GRANT + "{tool: a/b, requires_approval: true}",
            "/tools/0/requires_approval",
            "`requires_approval` is not a key of a grant",
            "did you mean `approval`?",
        ),
        (
            GRANT + "{tool: a/b, effect: read}",
            "/tools/0/effect",
            "`effect` without `idempotency`: a contract is asserted whole or not at all",
            "add `idempotency`",
        ),
        (
            GRANT + "{tool: a/b, idempotency: native}",
            "/tools/0/idempotency",
            "`idempotency` without `effect`: a contract is asserted whole or not at all",
            "add `effect`",
        ),
        (GRANT + "{tool: a/b, effect: raed, idempotency: native}", "/tools/0/effect", None, "did you mean `read`?"),
        (
            GRANT + "a/b\n  - {tool: a/b}",
            "/tools/1",
            "`a/b` is granted twice; it stands already in line 3",
            "keep one of the grants",
        ),
        (GRANT + "a/get_*", "/tools/0/tool", "`tool`: `a/get_*` holds a wildcard; only `server/*` may", None),
        (GRANT + "'*'", "/tools/0/tool", None, "name each tool"),
        (GRANT + "'*/x'", "/tools/0/tool", None, "name each tool"),
        (GRANT + "{tool: a/*, effect: read, idempotency: native}", "/tools/0/effect", None, None),
        (
            GRANT + "{tool: a/*, max_calls: 3}",
            "/tools/0/max_calls",
            "`a/*` cannot carry `max_calls`: it also grants tools that do not exist yet",
            None,
        ),
        (GRANT + "' a/b'", "/tools/0/tool", "`tool`: ` a/b` begins or ends with white space", "write `a/b`"),
        (GRANT + "''", "/tools/0/tool", "`tool`: the tool's name is empty", None),
        (GRANT + "human_gate", "/tools/0/tool", "`tool`: `human_gate` is a reserved name", None),
        (GRANT + "_private", "/tools/0/tool", "`tool`: `_private` is a reserved name", None),
        (GRANT + "__dunder__", "/tools/0/tool", "`tool`: `__dunder__` is a reserved name", None),
        (GRANT + "'a b/c'", "/tools/0/tool", "`tool`: `a b` is not a server's name", None),
        (GRANT + "[1]", "/tools/0", "entry 1 of `tools` must be a mapping, not a list", None),
        (GRANT + "{effect: read, idempotency: none}", "/tools/0", "`tool` is missing", "add `tool`"),
        (GRANT + "{tool: a/b, max_calls: -1}", "/tools/0/max_calls", None, None),
        (
            GRANT + "{tool: a/b, max_calls: 1.5}",
            "/tools/0/max_calls",
            "`max_calls` must be a whole number, not `1.5`",
            None,
        ),
        (
            GRANT + "{tool: a/b, max_calls: true}",
            "/tools/0/max_calls",
            "`max_calls` must be a whole number, not `true`",
            None,
        ),
        (GRANT + "{tool: a/b, timeout_s: .inf}", "/tools/0/timeout_s", None, None),
        (GRANT + "{tool: a/b, timeout_s: 0}", "/tools/0/timeout_s", None, None),
        (GRANT + "{tool: a/b, reason: ''}", "/tools/0/reason", "`reason`: the text is blank", None),
        (GRANT + "{tool: a/b, key: []}", "/tools/0/key", "`key` is empty", None),
        (GRANT + "{tool: a/b, returns: tainted}", "/tools/0/returns", None, None),
        (
            SERVER + "{command: npx -y x}",
            "/servers/s/command",
            "`command` must be a list, not the text `npx -y x`",
            'write `["npx", "-y", "x"]`',
        ),
        (SERVER + "{command: []}", "/servers/s/command", "`command` is empty", None),
        (SERVER + "{command: ['']}", "/servers/s/command/0", "the program's name is empty", None),
        (
            SERVER + "{command: [x], url: 'https://x'}",
            "/servers/s/url",
            "the server has several launches: `command`, `url`",
            "keep one of them",
        ),
        (SERVER + "{surface: x, import: y}", "/servers/s/import", None, None),
        (SERVER + "{command: [x], headers: {A: b}}", "/servers/s/headers", None, None),
        (SERVER + "{url: 'https://x', env: {A: b}}", "/servers/s/env", None, None),
        (SERVER + "{url: 'ftp://x'}", "/servers/s/url", "`url`: the URL is not one of http or https with a host", None),
        (SERVER + "{url: 'https://'}", "/servers/s/url", None, None),
        (SERVER + "{url: 'https://x:99999'}", "/servers/s/url", None, None),
        (SERVER + "{surface: /etc/passwd}", "/servers/s/surface", None, None),
        (SERVER + "{command: [x], cwd: ~/x}", "/servers/s/cwd", None, None),
        (
            SERVER + "{command: [x], env: {PORT: 80}}",
            "/servers/s/env/PORT",
            "`PORT` must be text, not `80`",
            'write it in quotes: `"80"`',
        ),
        (
            SERVER + "{command: [x], env: {A-B: x}}",
            "/servers/s/env/A-B",
            "`A-B` is not an environment variable's name",
            None,
        ),
        (
            SERVER + "{command: [x], env: {A: 'Bearer secret://t'}}",
            "/servers/s/env/A",
            "`secret://` stands inside a longer text and would be sent as written",
            "write `${secret:t}` inside text; `secret://t` must be the whole value",
        ),
        (
            SERVER + "{command: [x, '${env:A}']}",
            "/servers/s/command/1",
            "`${env:A}` is not a reference",
            "write `${A}`",
        ),
        (
            SERVER + "{command: [x], version: 2.3}",
            "/servers/s/version",
            "`version` must be text, not `2.3`",
            'write it in quotes: `"2.3"`',
        ),
        (
            SERVER + "{command: [x], version: '2.3'}",
            "/servers/s/version",
            "`version`: `2.3` is not a PEP 440 version range",
            None,
        ),
        (SERVER + "{command: [x], version: ' '}", "/servers/s/version", None, 'write a range such as `">=2.3,<3"`'),
        (
            SERVER + "{command: [x], version: '2.3'}",
            "/servers/s/version",
            None,
            'write `==2.3`, or a range such as `">=2.3,<3"`',
        ),
        (SERVER + "{command: [x, 3]}", "/servers/s/command/1", "entry 2 of `command` must be text, not `3`", None),
        (
            SERVER + "{url: 'https://x y'}",
            "/servers/s/url",
            "`url`: the URL holds white space or control characters",
            None,
        ),
        (SERVER + "{url: 'https://x:0/'}", "/servers/s/url", None, None),
        (SERVER + "{surface: ''}", "/servers/s/surface", "`surface`: the path is empty", None),
        (SERVER + "{command: [x], env: {A: [1]}}", "/servers/s/env/A", "`A` must be text, not a list", None),
        (
            SERVER + "{command: [x], publisher: ' a'}",
            "/servers/s/publisher",
            "`publisher`: ` a` begins or ends with white space",
            "write `a`",
        ),
        (SERVER + '{command: [x], publisher: "a\\nb"}', "/servers/s/publisher", None, "shorten it to one line"),
        (
            SERVER + "{url: 'https://x', auth: {client_credentials: {client_id: 1, client_secret: b}}}",
            "/servers/s/auth/client_credentials/client_id",
            None,
            None,
        ),
        (
            GRANT + "{tool: a/b, max_calls: '3'}",
            "/tools/0/max_calls",
            "`max_calls` must be a whole number, not the text `3`",
            "write the number without quotes",
        ),
        (SERVER + "{command: [x], version: '>=2,<<3'}", "/servers/s/version", None, None),
        (
            SERVER + "{command: [x], reviewed_at: 2026-02-30}",
            "/servers/s/reviewed_at",
            "`reviewed_at`: `2026-02-30` is not a date",
            None,
        ),
        (
            SERVER + "{command: [x], reviewed_at: 2026-02-03, review_expires_at: 2026-02-02}",
            "/servers/s/review_expires_at",
            "the review expires before it was made",
            None,
        ),
        (SERVER + "{command: [x], policy: pinned}", "/servers/s/policy", None, "did you mean `pin`?"),
        (
            SERVER + "{command: [x], volatile: [{pointer: a, match: b}]}",
            "/servers/s/volatile/0/pointer",
            "`pointer`: `a` is not an RFC 6901 pointer",
            None,
        ),
        (
            SERVER + "{command: [x], volatile: [{pointer: /a, match: '(a+)+'}]}",
            "/servers/s/volatile/0/match",
            "`match` repeats a group that itself repeats or branches",
            None,
        ),
        (
            SERVER + "{url: 'https://x', auth: {}}",
            "/servers/s/auth",
            "`auth` needs exactly one of `client_credentials` and `attended`",
            None,
        ),
        (
            SERVER + "{environment: {A: b}}",
            "/servers/s/environment",
            "`environment` is not a key of a server",
            "did you mean `env`?",
        ),
        (SERVER + "npx", "/servers/s", "`s` must be a mapping, not the text `npx`", None),
        ("version: 1\nservers:\n  's s': {}", "/servers/s s", "`s s` is not a server's name", None),
        ("version: 1\nservers:\n  human_gate: {}", "/servers/human_gate", "`human_gate` is a reserved name", None),
        ("version: 1\nservers:\n  a: {}\n  A: {}", "/servers/A", "servers `a` and `A` differ only in case", None),
        ("version: 1\nservers: [a]", "/servers", "`servers` must be a mapping, not a list", None),
        ("version: 1\nnetwork: ['*.*.x']", "/network/0", "`*.*.x` is not a network pattern", None),
        ("version: 1\nnetwork: ['https://x']", "/network/0", None, None),
        ("version: 1\nnetwork: ['x:70000']", "/network/0", None, None),
        ("version: 1\nmodels: [a, a]", "/models/1", "`a` is listed twice; it stands already in line 2", None),
        ("version: 1\nbudget: {cost: 1}", "/budget/cost", "`cost` is not a key of `budget`", None),
        ("version: 1\nbudget: {tokens: .nan}", "/budget/tokens", None, None),
        (
            "version: 1\nfail_on: {breaking: never}",
            "/fail_on/breaking",
            "`breaking` cannot be lowered to `never`: what a pull request can edit must not switch it off",
            None,
        ),
        ("version: 1\nfail_on: {text-changed: info}", "/fail_on/text-changed", None, None),
        ("version: 1\nfail_on: {contract-raised: never}", "/fail_on/contract-raised", None, None),
        (
            "version: 1\nfail_on: {wided: error}",
            "/fail_on/wided",
            "`wided` is not a kind of drift",
            "did you mean `widened`?",
        ),
        ("version: 2", "/version", None, None),
        ("version: '1'", "/version", None, None),
        ("tools: []", "", "`version` is missing", "add `version`"),
        ("- a", "", "the document must be a mapping, not a list", None),
        ("", "", "the manifest is empty", "begin with `version: 1`"),
        ("version: 1\nallow: []", "/allow", "`allow` is not a key of the document", "did you mean `tools`?"),
    ],
)
def test_each_error(text, pointer, message, hint):
    found = [item for item in errors(text) if item.location.pointer == pointer]
    assert found, [item.message for item in errors(text)]
    if message is not None:
        assert message in [item.message for item in found]
    if hint:
        assert hint in [item.next for item in found]


def test_exactly_one_error_for_one_mistake():
    for text in (
        GRANT + "{tool: a/b, approval: always}",
        SERVER + "{command: [x], version: 2.3}",
        "version: 1\ntools:",
    ):
        assert len(errors(text)) == 1


def test_a_wildcard_may_ask_for_approval():
    (grant,) = parse_manifest(GRANT + "{tool: a/*, approval: true, reason: new}", "k").tools
    assert grant.approval


def test_messages_never_carry_control_characters():
    (item, *_) = errors('version: 1\n"a\\e[31mb\\u202e": 1\n')
    assert item.message.isprintable()


@given(st.text(max_size=200))
def test_any_text_is_a_manifest_or_errors(text):
    manifest, found = outcome(text)
    assert bool(found) != (manifest is not None)


WORDS = st.sampled_from(
    [
        "version",
        "servers",
        "tools",
        "a",
        "a/b",
        "a/*",
        "effect",
        "read",
        "command",
        "url",
        "env",
        "auth",
        "fail_on",
        "budget",
        "x y",
        "secret://",
        "${",
        "import",
        "volatile",
        "match",
        "policy",
        "tool",
    ]
)
SHAPES = st.recursive(
    WORDS | st.none() | st.booleans() | st.integers(-2, 2) | st.just(float("inf")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)


def flow(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}": {flow(item)}' for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str):
        return f'"{value}"'
    return {None: "null", True: "true", False: "false"}.get(value, ".inf" if value == float("inf") else str(value))


@given(SHAPES)
def test_any_shape_is_a_manifest_or_errors(value):
    manifest, found = outcome(flow(value))
    assert bool(found) != (manifest is not None)
    assert all(item.location.line >= 1 for item in found)
