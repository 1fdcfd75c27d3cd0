"""One way to run the real command line: a scrubbed environment, a fresh folder, masked paths."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KEPT = ("PATH", "SYSTEMROOT", "TMPDIR", "COVERAGE_PROCESS_START", "SSL_CERT_FILE")


@dataclass(frozen=True)
class Result:
    """What one run of keel did."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """The JSON report on standard output."""
        value: dict[str, Any] = json.loads(self.out)
        return value

    @property
    def codes(self) -> list[str]:
        """Codes of all findings, sorted, each once."""
        return sorted({item["code"] for item in self.report["findings"]})

    @property
    def gaps(self) -> list[str]:
        """Codes of what was not checked, sorted."""
        return sorted(item["code"] for item in self.report["not_checked"])


@dataclass
class Keel:
    """Runs keel in one folder."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str, cwd: Path | None = None, stdin: str = "", **environment: str) -> Result:
        """Run `keel` with arguments; extra keywords are environment variables."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        # Console scripts of the environment that runs the tests, such as real MCP servers, are found first.
        kept["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
        home = {"HOME": str(self.root), "LC_ALL": "C.UTF-8", "TERM": "dumb", "PYTHONWARNINGS": "error"}
        done = subprocess.run(
            [sys.executable, "-m", "keel", *arguments],
            cwd=cwd or self.root,
            env={**kept, **home, **self.environment, **environment},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "Traceback" not in done.stderr + done.stdout, done.stderr
        return Result(done.returncode, self.mask(done.stdout), self.mask(done.stderr))

    def json(self, *arguments: str, **environment: str) -> Result:
        """Run `keel` with a JSON report."""
        return self(*arguments, "--format", "json", **environment)

    def mask(self, text: str) -> str:
        """Replace this machine's paths."""
        return text.replace(str(self.root), "ROOT")


def put(root: Path, files: dict[str, str]) -> None:
    """Write files below a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def tool(name: str, description: str = "", **fields: Any) -> dict[str, Any]:
    """Return a plain tool definition."""
    schema = fields.pop("schema", {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]})
    return {"name": name, "description": description or f"Does {name}.", "inputSchema": schema, **fields}


def surface(*tools: dict[str, Any], version: str = "1.0.0", **initialize: Any) -> str:
    """Return the text of a surface file."""
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": version},
    }
    return json.dumps({"initialize": {**hello, **initialize}, "tools": list(tools)})
