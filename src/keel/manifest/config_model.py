"""The grammar of the project configuration: keys, types and descriptions."""

from __future__ import annotations

from keel.manifest import words
from keel.manifest.fields import (
    DATE,
    PATH,
    PLAIN,
    VARIABLE,
    choice,
    listed,
    matching,
    maybe,
    needed,
    record,
    shorthand,
    table,
)

_CODE = matching(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", "is not a code", "`keel explain` lists the codes")
_DIGEST = matching(r"[a-z][a-z0-9]*:[0-9a-f]{16,128}", "is not a digest", "copy it from the finding")
_SECRET = matching(words.REFERENT, "is not a secret's name", "use letters, digits, `_`, `.` and `-`")

SUPPRESSION = record(
    "A finding that is accepted for a while, and why.",
    {
        "code": needed(_CODE, "Code of the finding."),
        "key": needed(PLAIN, "What the finding is about, as the finding prints it: a tool key, server, flow or file."),
        "digest": maybe(_DIGEST, "Digest that the finding prints; another one ends the suppression."),
        "reason": needed(PLAIN, "Why it is accepted."),
        "until": needed(DATE, "Last day, in UTC, on which it is accepted."),
    },
)

SECRET = record(
    "Where a secret's value comes from; exactly one of the keys.",
    {
        "env": maybe(VARIABLE, "Environment variable that holds it."),
        "file": maybe(PLAIN, "File that holds it, relative to the project or absolute."),
    },
    minProperties=1,
    maxProperties=1,
)

_SOURCE = shorthand(
    "env", SECRET, {"pattern": f"^(?:{words.VARIABLE})$", "description": "Environment variable that holds it."}
)

CONFIG = record(
    "Configuration of a keel project: `keel.toml`, or `[tool.keel]` in `pyproject.toml`.",
    {
        "flows": maybe(
            listed(PLAIN), "Flow modules: files, globs or module names; default `flows.py` and `flows/**/*.py`."
        ),
        "source-roots": maybe(
            listed(PATH, least=1), "Directories that modules are imported from.", default=[".", "src"]
        ),
        "manifest": maybe(PATH, "Capability manifest; default `keel.yaml` or `manifests/keel.yaml`."),
        "lock": maybe(
            PATH, "Lock index; surfaces lie beside it in a directory of that name and `.d`.", default="keel.lock"
        ),
        "python": maybe(
            PLAIN, "Interpreter that introspects native tools; default `$VIRTUAL_ENV`, `.venv` or the running one."
        ),
        "mcp-config": maybe(listed(PATH), "MCP client configurations to read servers from.", default=[]),
        "targets": maybe(listed(PLAIN), "Model providers whose limits are checked.", default=[]),
        "freeze-timing": maybe(
            choice("deploy_time", "per_run"), "When the surface of a run is frozen.", default="deploy_time"
        ),
        "secrets": maybe(table(_SECRET, _SOURCE), "Sources of secrets by name."),
        "profile": maybe(choice("default", "strict"), "How strict the quality rules are.", default="default"),
        "suppress": maybe(listed(SUPPRESSION), "Accepted findings."),
    },
)

PLACES = {(): CONFIG, ("secrets", "*"): SECRET, ("suppress", "*"): SUPPRESSION}
"""The record that stands at each place of a configuration; `*` is any key or index."""
