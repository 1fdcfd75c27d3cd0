"""The JSON Schemas accept what keel accepts, and refuse what a schema can refuse."""

import json

import jsonschema
import jsonschema_rs
import pytest
from tests.unit.manifest.test_config import WHOLE as WHOLE_CONFIG
from tests.unit.manifest.test_parse import WHOLE as WHOLE_MANIFEST

from keel.core.finding import InputErrors
from keel.core.model import DataClass, Idempotency, Policy, Trust
from keel.manifest.config import parse_config
from keel.manifest.jsonschema import config_schema, manifest_schema
from keel.manifest.model import MANIFEST
from keel.manifest.parse import parse_manifest
from keel.manifest.tomltree import read_toml
from keel.manifest.yamltree import read_yaml

MANIFEST_SCHEMA, CONFIG_SCHEMA = manifest_schema(), config_schema()


def accepted(parse, text):
    try:
        parse(text, "file")
    except InputErrors:
        return False
    return True


@pytest.mark.parametrize("schema", [MANIFEST_SCHEMA, CONFIG_SCHEMA])
def test_both_are_valid_and_described(schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    assert jsonschema_rs.meta.is_valid(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"]
    stack = [schema]
    while stack:
        node = stack.pop()
        for name, prop in node.get("properties", {}).items():
            assert prop.get("description"), name
            assert "title" not in prop
        stack.extend(child for key, child in node.items() if isinstance(child, dict) and key != "if")
        stack.extend(
            child for value in node.values() if isinstance(value, list) for child in value if isinstance(child, dict)
        )


def test_the_schemas_are_the_same_each_time():
    assert json.dumps(manifest_schema()) == json.dumps(MANIFEST_SCHEMA)
    assert json.dumps(config_schema()) == json.dumps(CONFIG_SCHEMA)


G, S = "version: 1\ntools:\n  - ", "version: 1\nservers:\n  s: "


@pytest.mark.parametrize(
    ("text", "good"),
    [
        (WHOLE_MANIFEST, True),
        ("version: 1", True),
        ("version: 1\nservers: {}\ntools: []", True),
        (G + "a/b", True),
        (G + "native", True),
        (G + "a/*", True),
        (G + "a/b/c", True),
        (G + "'a/tool with space'", True),
        (G + "{tool: a/*, approval: true}", True),
        (G + "{tool: a/b, max_calls: 0, timeout_s: 0.5}", True),
        (S + "{}", True),
        (S + "{url: 'http://localhost:80/x'}", True),
        (S + "{url: '${BASE}/x'}", True),
        (S + "{command: [x, '']}", True),
        ("version: 1\nnetwork: [a, a.b, '*.a.b', 'a:65535', '*.a:1']", True),
        ("", False),
        ("{}", False),
        ("version: 2", False),
        ("version: '1'", False),
        ("version: 1\nunknown: 1", False),
        ("version: 1\ntools:", False),
        ("version: 1\nservers:", False),
        ("version: 1\nservers: []", False),
        ("version: 1\nservers: {a b: {}}", False),
        ("version: 1\nservers: {human_gate: {}}", False),
        ("version: 1\nservers: {_a: {}}", False),
        ("version: 1\nnetwork: ['*']", False),
        ("version: 1\nnetwork: ['a*.b']", False),
        ("version: 1\nnetwork: ['a:0']", False),
        ("version: 1\nnetwork: ['a:65536']", False),
        ("version: 1\nnetwork: ['-a']", False),
        ("version: 1\nbudget: {tokens: -1}", False),
        ("version: 1\nfail_on: {widened: sometimes}", False),
        ("version: 1\ndefaults: {primitives: []}", False),
        (G + "'*'", False),
        (G + "a/b*", False),
        (G + "' a/b'", False),
        (G + "'a/ b'", False),
        (G + "human_gate", False),
        (G + "_x", False),
        (G + "/x", False),
        (G + "x/", False),
        (G + "{tool: a/b, approval: always}", False),
        (G + "{tool: a/b, effect: read}", False),
        (G + "{tool: a/b, idempotency: none}", False),
        (G + "{tool: a/*, effect: read, idempotency: none}", False),
        (G + "{effect: read, idempotency: none}", False),
        (G + "{tool: a/b, key: []}", False),
        (G + "{tool: a/b, reason: ' '}", False),
        (G + "{tool: a/b, max_attempts: 0}", False),
        (G + "{tool: a/b, timeout_s: 0}", False),
        (S + "{command: x}", False),
        (S + "{command: []}", False),
        (S + "{command: [x], url: 'https://x'}", False),
        (S + "{surface: a, import: b}", False),
        (S + "{surface: /a}", False),
        (S + "{url: 'ftp://x'}", False),
        (S + "{command: [x], env: {A: 1}}", False),
        (S + "{command: [x], env: {A-B: '1'}}", False),
        (S + "{command: [x], reviewed_at: soon}", False),
        (S + "{command: [x], version: 1.2}", False),
        (S + "{command: [x], artifact_digest: 'sha256:AB'}", False),
        (S + "{url: 'https://x', auth: {}}", False),
        (S + "{url: 'https://x', auth: {attended: true, client_credentials: {client_id: a, client_secret: b}}}", False),
        (S + "{command: [x], volatile: [{match: a}]}", False),
        (S + "{command: [x], volatile: [{pointer: a, match: b}]}", False),
    ],
)
def test_manifest_schema_and_parser_agree(text, good):
    value = read_yaml(text).value
    assert accepted(parse_manifest, text) is good
    assert jsonschema.Draft202012Validator(MANIFEST_SCHEMA).is_valid(value) is good
    assert jsonschema_rs.validator_for(MANIFEST_SCHEMA).is_valid(value) is good


@pytest.mark.parametrize(
    "text",
    [
        G + "a/b\n  - a/b",
        "version: 1\nservers: {a: {}, A: {}}",
        S + "{command: ['Bearer secret://t']}",
        S + "{command: [x], version: '1.2'}",
        S + "{command: [x], reviewed_at: 2026-02-30}",
        S + "{command: [x], volatile: [{pointer: /a, match: '('}]}",
        S + "{command: [x], headers: {A: b}}",
        "version: 1\nfail_on: {breaking: never}",
    ],
)
def test_what_only_the_parser_sees(text):
    assert not accepted(parse_manifest, text)
    assert jsonschema.Draft202012Validator(MANIFEST_SCHEMA).is_valid(read_yaml(text).value)


SUPPRESS = "[[suppress]]\ncode = 'a-b'\nkey = 'c'\nreason = 'd'\n"


@pytest.mark.parametrize(
    ("text", "good"),
    [
        (WHOLE_CONFIG, True),
        ("", True),
        ("flows = []\nmcp-config = []", True),
        ("secrets = {a = 'B', c = {env = 'D'}, e = {file = 'f'}}", True),
        (SUPPRESS + "until = 2027-01-01", True),
        ("flows = 'a'", False),
        ("lok = 'a'", False),
        ("lock = '/a'", False),
        ("source-roots = []", False),
        ("profile = 'lax'", False),
        ("freeze-timing = 'never'", False),
        ("secrets = {a = 'B C'}", False),
        ("secrets = {a = {}}", False),
        ("secrets = {a = {env = 'B', file = 'c'}}", False),
        (SUPPRESS, False),
        (SUPPRESS + "until = 'soon'", False),
        (SUPPRESS + "until = 2027-01-01\ndigest = 'x'", False),
        (SUPPRESS + "until = 2027-01-01\nextra = 1", False),
    ],
)
def test_config_schema_and_parser_agree(text, good):
    value = read_toml(text).value
    assert accepted(parse_config, text) is good
    assert jsonschema.Draft202012Validator(CONFIG_SCHEMA).is_valid(value) is good
    assert jsonschema_rs.validator_for(CONFIG_SCHEMA).is_valid(value) is good


def test_the_grammar_knows_every_word_of_the_model():
    grant = MANIFEST_SCHEMA["properties"]["tools"]["items"]["anyOf"][1]["properties"]
    server = MANIFEST_SCHEMA["properties"]["servers"]["additionalProperties"]["properties"]
    assert grant["idempotency"]["enum"] == list(Idempotency)
    assert grant["data_class"]["enum"] == list(DataClass)
    assert grant["returns"]["enum"] == list(Trust)
    assert server["policy"]["enum"] == list(Policy)
    assert set(MANIFEST["fields"]) == set(MANIFEST_SCHEMA["properties"])
