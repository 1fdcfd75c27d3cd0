"""The console scripts `keel` and `keel-toolchain`."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    if sys.argv[1:] == ["--version"]:
        # Asked by scripts and editors at every start: answered before anything is loaded.
        from keel.version import __version__  # noqa: PLC0415

        sys.stdout.write(f"keel {__version__}\n")
        return
    # A run is short and makes few cycles; looking for them while modules load is a twentieth of its time.
    gc.set_threshold(400_000, 20, 20)
    from keel.cli.main import run  # noqa: PLC0415

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
