"""What a child process gets to see, and how references become values."""

from __future__ import annotations

from pathlib import Path

from keel.core.launch import Failure, Launch
from keel.core.model import ClientCredentials, SecretSource, ServerSpec, Transport
from keel.store.env import child_environment, resolve_launch

ENVIRON = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "LANG": "C.UTF-8",
    "HTTPS_PROXY": "http://me:pr0xy-pass@proxy:1",
    "UNRELATED": "stays-out",
    "SEARCH_KEY": "s3arch-key",
    "API_TOKEN": "t0ken-value",
    "REGION": "north",
}
SOURCES = (SecretSource("search_key", env="SEARCH_KEY"), SecretSource("unset", env="NOT_THERE"))


def spec(transport=Transport.STDIO, **more):
    return ServerSpec("srv", transport, **more)


def resolved(given, root=Path("/project"), sources=SOURCES, **more):
    return resolve_launch(given, root=root, environ=ENVIRON, secrets=sources, **more)


def test_c012_only_documented_passed_and_set_variables_reach_a_child():
    env = child_environment(ENVIRON, ["REGION", "ABSENT"], {"LANG": "fr", "X": "1"})
    assert env == {
        "PATH": "/bin",
        "HOME": "/home/me",
        "LANG": "fr",
        "HTTPS_PROXY": "http://me:pr0xy-pass@proxy:1",
        "REGION": "north",
        "X": "1",
    }


def test_a_stdio_launch_is_resolved():
    launch = resolved(
        spec(
            command=("run", "--region=${REGION}", "${NOPE:-d}"),
            env=(("KEY", "secret://search_key"), ("AUTH", "Bearer ${secret:search_key}"), ("TOKEN", "${API_TOKEN}")),
            cwd="sub",
            timeout_s=5.0,
            primitives=("tools", "prompts"),
        )
    )
    assert isinstance(launch, Launch)
    assert launch.argv == ("run", "--region=north", "d")
    assert (launch.env["KEY"], launch.env["AUTH"]) == ("s3arch-key", "Bearer s3arch-key")
    assert launch.cwd == Path("/project/sub")
    assert launch.timeout_s == 5.0
    assert launch.primitives == ("tools", "prompts")
    assert set(launch.secrets) == {"s3arch-key", "t0ken-value", "pr0xy-pass"}
    assert "s3arch-key" not in repr(launch)


def test_an_http_launch_gets_no_environment_and_the_override_wins():
    launch = resolved(
        spec(
            Transport.HTTP,
            url="https://${REGION}.example/mcp",
            headers=(("X-Key", "${secret:search_key}"),),
            client_credentials=ClientCredentials("me", "secret://search_key", "read"),
        ),
        timeout_override=9.0,
    )
    assert isinstance(launch, Launch)
    assert launch.url == "https://north.example/mcp"
    assert launch.headers == {"X-Key": "s3arch-key"}
    assert launch.client_credentials == ClientCredentials("me", "s3arch-key", "read")
    assert (launch.env, launch.cwd, launch.timeout_s) == ({}, None, 9.0)


def test_everything_missing_is_said_at_once_with_field_and_variable():
    failure = resolved(
        spec(
            command=("run", "${NOT_SET}"),
            env=(("A", "secret://unset"), ("B", "secret://unknown"), ("C", "secret://file")),
        ),
        sources=(*SOURCES, SecretSource("file", file="missing.txt")),
    )
    assert isinstance(failure, Failure)
    assert failure.gap.code == "missing-variable"
    for words in (
        "`command[1]` needs environment variable `NOT_SET`",
        "`env.A` needs secret `unset`, which is read from environment variable `NOT_THERE`",
        "`env.B` needs secret `unknown`, which has no source",
        "`env.C` needs secret `file`, which is read from file `missing.txt`",
    ):
        assert words in failure.gap.why


def test_a_secret_from_a_file_loses_its_last_line_end(tmp_path):
    (tmp_path / "key").write_text("from-file\n")
    launch = resolved(spec(command=("x",), env=(("K", "secret://f"),)), tmp_path, (SecretSource("f", file="key"),))
    assert launch.env["K"] == "from-file"
    assert launch.secrets == ("from-file", "pr0xy-pass")


def test_an_attended_server_waits_for_a_person():
    assert resolved(spec(Transport.HTTP, url="https://x", attended=True)).gap.code == "attended"
    launch = resolved(spec(Transport.HTTP, url="https://x", attended=True), login=print)
    assert launch.login is print
    assert resolved(spec(Transport.HTTP, url="https://x"), login=print).login is None


def test_a_surface_file_stands_in_the_project():
    assert resolved(spec(Transport.SURFACE, surface="captured.json")).surface == Path("/project/captured.json")


def test_what_looks_secret_is_treated_so():
    launch = resolved(
        spec(
            Transport.HTTP,
            url="https://me:url-passw0rd@host/mcp",
            headers=(
                ("Authorization", "Bearer literal-t0ken"),
                ("X-Api-Key", "literal-k3y"),
                ("X-Plain", "plain-value"),
            ),
        )
    )
    assert {"url-passw0rd", "literal-t0ken", "literal-k3y"} <= set(launch.secrets)
    assert "plain-value" not in launch.secrets
    limits = resolved(spec(command=("x",), env=(("MAX_TOKENS", "1234567890"), ("TOKEN_KIND", "short"))))
    assert set(limits.secrets) == {"pr0xy-pass"}
