"""Credentials: references resolved late, said back never, found in no output; logins of machines and of people."""

from __future__ import annotations

import base64
import json
import sys
import urllib.parse
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.harness import Keel, Result, put
from tests.acceptance.servers import Servers, bytes_of, hostile, serving, url_of

SECRET = "tok-5ecret-Value/9"
ROTATED = "an0ther-Value-77/x"
FORMATS = ("text", "json", "sarif", "github", "markdown", "junit")


def forms(secret: str) -> list[str]:
    """Return the spellings in which a secret must not be seen."""
    packed = base64.b64encode(secret.encode()).decode().rstrip("=")
    return [secret, urllib.parse.quote(secret, safe=""), packed[:-1], secret.replace("/", "\\/")]


def unsaid(keel: Keel, *results: Result, secrets: tuple[str, ...] = (SECRET, ROTATED)) -> None:
    """Search everything that was printed and everything in the project that keel wrote."""
    written = [path.read_bytes() for path in keel.root.rglob("*") if path.is_file() and "/now/" not in str(path)]
    said = [text.encode() for result in results for text in (result.out, result.err)]
    for secret in secrets:
        for form in forms(secret):
            assert not any(form.encode() in data for data in (*written, *said)), form


def everywhere(keel: Keel, *command: str, **environment: str) -> list[Result]:
    """Run a command once, with a report in every format, all on standard output and in files."""
    wanted = [word for name in FORMATS for word in ("--format", name, "--format", f"{name}:report.{name}")]
    return [keel(*command, "-v", *wanted, **environment)]


MISSING = {
    "command": {"command": [sys.executable, "x.py", "--token=${KEEL_TOKEN}"]},
    "env": {"command": [sys.executable, "x.py"], "env": {"API_KEY": "secret://search_key"}},
    "text": {"command": [sys.executable, "x.py"], "env": {"AUTH": "Bearer ${secret:search_key}"}},
    "url": {"url": "http://127.0.0.1:9/${KEEL_TOKEN}/mcp"},
    "headers": {"url": "http://127.0.0.1:9/mcp", "headers": {"authorization": "Bearer ${secret:search_key}"}},
    "auth": {
        "url": "http://127.0.0.1:9/mcp",
        "auth": {"client_credentials": {"client_id": "${KEEL_TOKEN}", "client_secret": "secret://search_key"}},
    },
}


@pytest.mark.parametrize("name", MISSING)
def test_what_is_not_set_is_named_with_its_field_and_nothing_is_contacted(keel: Keel, name: str) -> None:
    put(keel.root, {
        "keel.toml": '[secrets]\nsearch_key = {env = "KEEL_SEARCH_KEY"}\n',
        "keel.yaml": json.dumps({"version": 1, "servers": {"s": MISSING[name]}}),
        "x.py": "open('started', 'w').close()",
    })  # fmt: skip
    done = keel.json("freeze")
    assert (done.code, done.gaps) == (3, ["missing-variable"])
    why = done.report["not_checked"][0]["why"]
    field = {"text": "env.AUTH", "env": "env.API_KEY", "command": "command[2]", "headers": "headers.authorization"}.get(
        name, name
    )
    assert f"`{field}" in why
    assert "KEEL_TOKEN" in why or ("search_key" in why and "KEEL_SEARCH_KEY" in why)
    assert not (keel.root / "started").exists()
    assert not (keel.root / "keel.lock.d" / "s.json").exists()


def secretive(keel: Keel, behaviour: str) -> Servers:
    """Return a project whose server gets a secret in every way there is, and behaves badly."""
    project = Servers(keel, ["s"])
    env = {
        "HOSTILE_SECRET": "secret://it",
        "TEXT": "Bearer ${secret:it}",
        "PLAIN": "${KEEL_IT}",
        "DEFAULT": "${KEEL_NONE:-d}",
    }
    entry = project.entry("s", env=env)
    project.servers["s"] = {**entry, "command": [*entry["command"], "--key", "${KEEL_IT}"], "timeout_s": 15}
    project.write()
    put(keel.root, {"keel.toml": '[secrets]\nit = {env = "KEEL_IT"}\n'})
    project.behave({"s": behaviour})
    return project


@pytest.mark.parametrize("behaviour", ["echo-secret", "echo-instructions"])
def test_a_server_that_says_a_secret_back_is_not_written_at_all(keel: Keel, behaviour: str) -> None:
    project = secretive(keel, behaviour)
    done = keel.json("freeze", KEEL_IT=SECRET)
    assert (done.code, done.codes) == (1, ["secret-echoed"])
    assert "keel.lock.d/s.json" not in bytes_of(keel.root)
    captured = keel("capture", "s", "-o", "out", KEEL_IT=SECRET)
    assert captured.code == 1
    assert not (keel.root / "out" / "s.json").exists()
    unsaid(keel, done, captured, *everywhere(keel, "freeze", KEEL_IT=SECRET))
    project.behave({"s": "quiet"})
    assert keel("freeze", KEEL_IT=SECRET).code == 0
    before = bytes_of(keel.root)
    project.behave({"s": behaviour})
    drifted = keel.json("drift", KEEL_IT=SECRET)
    assert drifted.code == 1
    assert "secret-echoed" in drifted.codes
    assert keel("freeze", "s", KEEL_IT=SECRET).code == 1
    assert bytes_of(keel.root) == before
    unsaid(keel, drifted, *everywhere(keel, "drift", KEEL_IT=SECRET))


@pytest.mark.parametrize("behaviour", ["crash-start", "crash-list", "list-error"])
def test_last_words_and_messages_hide_secrets_in_every_format(keel: Keel, behaviour: str) -> None:
    secretive(keel, behaviour)
    done = everywhere(keel, "freeze", KEEL_IT=SECRET)
    assert done[0].code == 3
    unsaid(keel, *done)


def test_rotation_changes_no_byte(keel: Keel) -> None:
    secretive(keel, "quiet")
    assert keel("freeze", KEEL_IT=SECRET).code == 0
    before = bytes_of(keel.root)
    for command in (["freeze"], ["freeze", "s"], ["freeze", "--update"]):
        done = keel(*command, KEEL_IT=ROTATED)
        assert done.code == 0
        assert bytes_of(keel.root) == before
    assert keel("freeze", "--check").code == 0
    assert keel("drift", KEEL_IT=ROTATED).code == 0
    unsaid(keel, keel("check"), keel("show"), keel("bundle"))


def test_pass_env_and_defaults_reach_the_server_and_nothing_else_does(keel: Keel) -> None:
    project = Servers(keel, ["s"], env={"HOSTILE_SECRET": "${KEEL_NONE:-fallback}"}, pass_env=["KEEL_PASSED"])
    put(
        keel.root,
        {
            "serve.py": f"import json, os\njson.dump(dict(os.environ), open('seen.json', 'w'))\n{(keel.root / 'serve.py').read_text()}"
        },
    )
    assert keel("freeze", "--once", KEEL_PASSED="yes", KEEL_HELD="no").code == 0
    seen = json.loads((keel.root / "seen.json").read_text())
    assert (seen["HOSTILE_SECRET"], seen["KEEL_PASSED"]) == ("fallback", "yes")
    assert "KEEL_HELD" not in seen
    assert project.survivors() == []


def machine(keel: Keel, url: str, **more: Any) -> None:
    """Write a project whose server wants OAuth client credentials."""
    given = {"client_id": "secret://cid", "client_secret": "secret://cs", **more}
    server = {"url": url, "auth": {"client_credentials": given}, "timeout_s": 15}
    put(keel.root, {
        "keel.yaml": json.dumps({"version": 1, "servers": {"s": server}}),
        "keel.toml": '[secrets]\ncid = {env = "KEEL_CID"}\ncs = {file = "cs.txt"}\n',
    })  # fmt: skip


KNOWN = {"KEEL_CID": hostile.OAUTH_ID}


def test_client_credentials_open_a_server_and_leave_no_trace(
    keel: Keel, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("secrets") / "cs.txt"
    secret.write_text(f"{hostile.OAUTH_SECRET}\n")
    with serving(["oauth"]) as servers:
        server, requests = servers["oauth"]
        machine(keel, url_of(server))
        toml = (keel.root / "keel.toml").read_text().replace('"cs.txt"', json.dumps(str(secret)))
        put(keel.root, {"keel.toml": toml})
        done = keel("freeze", **KNOWN)
        assert done.code == 0, done.out
        before = bytes_of(keel.root)
        assert keel("drift", **KNOWN).code == 0
        secret.write_text("wr0ng-s3cret")
        refused = keel.json("drift", **KNOWN)
        assert (refused.code, refused.gaps) == (3, ["needs-authentication"])
        assert keel("freeze", "s", **KNOWN).code == 3
        assert bytes_of(keel.root) == before
        assert any(f"Bearer {hostile.OAUTH_TOKEN}" in request for request in requests)
        unsaid(keel, done, refused, secrets=(hostile.OAUTH_SECRET, hostile.OAUTH_TOKEN, "wr0ng-s3cret"))


def test_an_issuer_names_the_only_place_that_sees_the_credentials(keel: Keel) -> None:
    with serving(["oauth"]) as servers:
        server, requests = servers["oauth"]
        put(keel.root, {"cs.txt": hostile.OAUTH_SECRET})
        machine(keel, url_of(server), issuer="http://127.0.0.1:9")
        done = keel.json("freeze", **KNOWN)
        assert (done.code, done.gaps) == (3, ["needs-authentication"])
        assert not [request for request in requests if request.startswith("POST /token")]
        machine(keel, url_of(server), issuer=url_of(server).removesuffix("/mcp"))
        assert keel("freeze", **KNOWN).code == 0


def test_a_person_logs_in_only_when_asked(keel: Keel) -> None:
    browser = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1]).read()"
    put(keel.root, {"browser.py": browser})
    with serving(["oauth"]) as servers:
        server, requests = servers["oauth"]
        entry = {"url": url_of(server), "auth": {"attended": True}, "timeout_s": 15}
        put(keel.root, {"keel.yaml": json.dumps({"version": 1, "servers": {"s": entry}})})
        unattended = keel.json("freeze")
        assert (unattended.code, unattended.gaps, requests) == (0, ["attended"], [])
        attended = keel("freeze", "s", "--login", BROWSER=f"{sys.executable} {keel.root / 'browser.py'} %s")
        assert attended.code == 0, attended.out
        assert "log in at http://127.0.0.1:" in attended.err
        assert [request for request in requests if request.startswith("GET /authorize?")]
        assert "attended" in keel("drift", "-v").out
        assert keel("drift").code == 0
        unsaid(keel, attended, secrets=(hostile.OAUTH_TOKEN,))
        assert not [path for path in Path(keel.root).rglob("*") if "token" in path.name]
