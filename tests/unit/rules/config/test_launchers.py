"""Every launcher that fetches what it runs, in the forms in which people write it."""

import pytest

from keel.rules.config.launchers import packages
from keel.rules.config.registry import lint_config
from tests.unit.rules.config.project import launching

DIGEST = "sha256:" + "0a" * 32
COMMIT = "0a" * 20


def of(line):
    return packages(line.split(" "))


@pytest.mark.parametrize(
    ("line", "name", "version"),
    [
        ("npx pkg", "pkg", ""),
        ("npx -y pkg --flag x", "pkg", ""),
        ("npx --yes pkg@latest", "pkg", "latest"),
        ("npx -y @scope/pkg", "@scope/pkg", ""),
        ("npx -y @scope/pkg@^1.2.3", "@scope/pkg", "^1.2.3"),
        ("npx -y pkg@1", "pkg", "1"),
        ("npx -y --package=pkg@next -- bin", "pkg", "next"),
        ("npx -p pkg bin --x", "pkg", ""),
        ("npx --registry https://registry.example pkg", "pkg", ""),
        ("npx github:acme/server", "github:acme/server", ""),
        ("npx -y acme/server#main", "acme/server", "main"),
        ("C:\\node\\npx.cmd -y pkg", "pkg", ""),
        ("cmd /c npx -y pkg", "pkg", ""),
        ("cmd.exe /C npx.cmd pkg@latest", "pkg", "latest"),
        ("env A=b npx -y pkg", "pkg", ""),
        ("npm exec -- pkg", "pkg", ""),
        ("npm x -y pkg@latest", "pkg", "latest"),
        ("pnpm dlx pkg", "pkg", ""),
        ("pnpm --silent dlx pkg@~1.0.0", "pkg", "~1.0.0"),
        ("yarn dlx -q pkg", "pkg", ""),
        ("bunx pkg", "pkg", ""),
        ("bun x --bun pkg", "pkg", ""),
        ("uvx pkg", "pkg", ""),
        ("uvx pkg@latest", "pkg", "latest"),
        ("uvx pkg[extra]>=1.2", "pkg", ">=1.2"),
        ("uvx pkg==1.*", "pkg", "1.*"),
        ("uvx --python 3.12 pkg", "pkg", ""),
        ("uvx --from pkg cmd", "pkg", ""),
        ("uvx --from git+https://git.example/acme/server.git cmd", "git+https://git.example/acme/server.git", ""),
        ("uvx --from git+https://git.example/acme/s@main cmd", "git+https://git.example/acme/s", "main"),
        ("uv tool run pkg", "pkg", ""),
        ("uv --directory /srv tool run --from pkg~=1.0 cmd", "pkg", "~=1.0"),
        ("uv run --with mcp[cli] mcp run server.py", "mcp", ""),
        ("pipx run pkg", "pkg", ""),
        ("pipx run --spec pkg>1 cmd", "pkg", ">1"),
        ("docker run -i --rm mcp/fetch", "mcp/fetch", ""),
        ("docker run -i --rm -e TOKEN -v /a:/b --network host mcp/fetch:latest run", "mcp/fetch", "latest"),
        ("docker run -it --env=A=b registry.example:5000/acme/x:1.2", "registry.example:5000/acme/x", "1.2"),
        ("docker container run -ieTOKEN mcp/fetch", "mcp/fetch", ""),
        ("podman run --rm -ie TOKEN ghcr.io/acme/x:1", "ghcr.io/acme/x", "1"),
        ("go run git.example/acme/x@latest", "git.example/acme/x", "latest"),
        ("go run -C /srv git.example/acme/x@v1", "git.example/acme/x", "v1"),
        ("deno run -A npm:pkg", "pkg", ""),
        ("deno run --allow-net npm:@scope/pkg@1", "@scope/pkg", "1"),
        ("deno run jsr:@scope/pkg", "@scope/pkg", ""),
        ("deno run -A https://deno.example/x/mod.ts", "https://deno.example/x/mod.ts", ""),
        ("dnx Acme.Mcp --yes", "Acme.Mcp", ""),
        ("dotnet tool exec Acme.Mcp@*", "Acme.Mcp", "*"),
    ],
)
def test_open_launches(line, name, version):
    assert [(item.name, item.version, item.exact) for item in of(line)] == [(name, version, False)]


@pytest.mark.parametrize(
    ("line", "settled"),
    [
        ("npx -y pkg@1.2.3", False),
        ("npx -y @scope/pkg@1.2.3-beta.1", False),
        (f"npx -y github:acme/server#{COMMIT}", False),
        ("pnpm dlx pkg@1.2.3", False),
        ("bunx pkg@1.2.3", False),
        ("uvx pkg==1.2", False),
        ("uvx pkg@1.2.3", False),
        ("uvx --from pkg[extra]==1.2.3 cmd", False),
        ("uvx -c constraints.txt pkg@1.2.3", True),
        ("uvx --exclude-newer=2026-01-01 pkg@1.2.3", True),
        ("uvx --with-requirements requirements.txt pkg==1.2.3", True),
        (f"uvx --from git+https://git.example/acme/s@{COMMIT} cmd", False),
        ("pipx run pkg==1.2.3", False),
        ("pipx run --pip-args=--constraint=c.txt pkg==1.2.3", True),
        (f"docker run --rm -i mcp/fetch@{DIGEST}", True),
        (f"docker run --rm -i mcp/fetch:1.2@{DIGEST}", True),
        ("go run git.example/acme/x@v1.2.3", True),
        ("deno run -A npm:pkg@1.2.3", False),
        ("dnx Acme.Mcp@1.2.3", True),
        ("dnx Acme.Mcp --version 1.2.3 --yes", True),
    ],
)
def test_exact_launches(line, settled):
    assert [(item.exact, item.settled) for item in of(line)] == [(True, settled)]


@pytest.mark.parametrize(
    "line",
    [
        "/srv/app/.venv/bin/python -m server",
        "python -m mcp_server_time",
        "python3 server.py",
        "node dist/index.js",
        "node_modules/.bin/search-mcp",
        "uv run server.py",
        "uv --directory /srv/app run server",
        "uv run --locked server",
        "npx ./server",
        "npx -y file:../server",
        "npx -y pkg@${VERSION}",
        "bun run server.ts",
        "deno run -A server.ts",
        "go run ./cmd/server",
        "go run git.example/acme/x",
        "docker exec -i box server",
        "docker compose run server",
        "dotnet run",
        "search-mcp --stdio",
        "npx",
        "uvx --from",
        "sh",
        "sh -c",
        "cmd /c",
        "env",
        "env A=b",
        "docker run",
    ],
)
def test_what_fetches_nothing(line):
    assert of(line) == ()


def test_a_shell_runs_several_commands():
    found = packages(["bash", "-lc", "cd /srv && pip install -q foo bar==1.0 && exec npx -y 'pkg'; python -m foo"])
    assert [(item.name, item.exact, item.index) for item in found] == [
        ("foo", False, 2),
        ("bar", True, 2),
        ("pkg", False, 2),
    ]
    assert [item.name for item in packages(["sh", "-c", "uvx pkg 'unclosed"])] == ["pkg"]


def test_it_says_how_to_pin_the_release_and_the_tree():
    (found,) = lint_config(launching("npx", "-y", "pkg"))
    assert (found.code, found.severity, found.location.pointer) == ("unpinned-launch", "warning", "/command/2")
    assert "npx -y pkg@X.Y.Z" in found.next
    assert "npm ci" in found.next
    (found,) = lint_config(launching("uvx", "pkg==1.2.3"))
    assert (found.code, found.severity) == ("unpinned-tree", "info")
    assert "--constraints" in found.next


def test_secrets_in_a_source_are_not_repeated():
    found = lint_config(launching("uvx", "--from", "git+https://me:hunter2secret@git.example/acme/s", "cmd"))
    assert "hunter2secret" not in str(found)
    (found,) = lint_config(launching("docker", "run", "-e", "API_KEY=hunter2secret", "mcp/fetch"))
    assert "hunter2secret" not in str(found)
