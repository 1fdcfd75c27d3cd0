"""The console scripts `keel` and `keel-toolchain`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    if sys.argv[1:] == ["--version"]:
        # Asked by scripts and editors at every start: answered before anything is loaded.
        from keel.version import __version__  # noqa: PLC0415

        sys.stdout.write(f"keel {__version__}\n")
        return
    from keel.cli.main import run  # noqa: PLC0415

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
