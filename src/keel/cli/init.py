"""`keel init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keel.cli import options
from keel.cli.console import execute


def command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help="MCP client configurations; default: those that lie in the project."),
    ] = None,
    *,
    project: options.Project = None,
    formats: options.Formats = None,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
) -> int:
    """Write a starter manifest, settings and .gitattributes from the MCP client configurations of a project.

    Found are .mcp.json, .vscode/mcp.json, .cursor/mcp.json, .gemini/settings.json and .codex/config.toml. Nothing is
    started, no file is overwritten, no secret is copied.

    Examples: `keel init`, `keel init claude_desktop_config.json`.
    """
    from keel.app.init import init  # noqa: PLC0415
    from keel.store.project import project_root  # noqa: PLC0415

    root = (project or project_root(Path.cwd()) or Path.cwd()).resolve()
    return execute(
        "init",
        lambda: init(root, tuple(files or ())),
        formats=formats or ["text"],
        verbose=verbose,
        no_color=no_color,
        folder=root,
    )
