"""Options that several commands share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keel.core.finding import Threshold

Project = Annotated[
    Path | None, typer.Option("--project", metavar="DIR", help="The project; default: the nearest one from here up.")
]
ManifestFile = Annotated[Path | None, typer.Option("--manifest", metavar="FILE", help="Use this capability manifest.")]
LockFile = Annotated[Path | None, typer.Option("--lock", metavar="FILE", help="Use this lock.")]
Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="F[:FILE]",
        help="Report format, optionally into a file; may be repeated: text, json, sarif, github, markdown, junit.",
    ),
]
FailOn = Annotated[Threshold, typer.Option("--fail-on", help="From which severity on findings give exit code 1.")]
JOBS = 32
"""Default of `--jobs`, as in `keel.app.context`, which `--help` does not load."""
Jobs = Annotated[int, typer.Option("--jobs", min=1, max=256, help="How many servers are asked at the same time.")]
Timeout = Annotated[
    float | None, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="Deadline for each phase of a server.")
]
Login = Annotated[
    bool, typer.Option("--login", help="Open a browser for servers that are `attended`; tokens stay in memory.")
]
Today = Annotated[
    str | None, typer.Option("--today", metavar="DATE", help="Judge reviews and dates as of this day (UTC).")
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show infos too.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colour; NO_COLOR does the same.")]
