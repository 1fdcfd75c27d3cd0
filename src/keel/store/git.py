"""Reading files of git revisions by plumbing alone: no text conversion, no monitor, no lazy fetch, no hooks."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from keel.core.text import escape
from keel.errors import KeelError

_TIMEOUT_S = 30
_SAFE = ("-c", "core.fsmonitor=false", "-c", "protocol.allow=never", "--no-optional-locks", "--no-replace-objects")


class GitError(KeelError):
    """A revision or a repository that cannot be read."""

    code = "usage"


@dataclass(frozen=True, slots=True)
class Repository:
    """A git work tree."""

    top: Path

    @classmethod
    def containing(cls, folder: Path) -> Repository:
        """Return the repository that a folder lies in.

        Raises:
            GitError: if there is none, or git is not installed.
        """
        code, out, err = _git(folder, "rev-parse", "--show-toplevel")
        if code != 0:
            raise GitError(f"`{folder.name}` is not in a git repository", hint=_reason(err))
        return cls(Path(os.fsdecode(out.rstrip(b"\n"))))

    def commit(self, revision: str) -> str:
        """Return the commit that a revision names.

        Raises:
            GitError: if there is no such revision.
        """
        code, out, err = _git(
            self.top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        )
        if code != 0:
            hint = _reason(err) or "`git log --oneline` lists revisions; a shallow clone may lack older ones"
            raise GitError(f"`{escape(revision)}` is not a revision of this repository", hint=hint)
        return out.decode("ascii").strip()

    def merge_base(self, first: str, second: str) -> str:
        """Return the best common ancestor of two commits.

        Raises:
            GitError: if there is none.
        """
        code, out, _ = _git(self.top, "merge-base", self.commit(first), self.commit(second))
        if code != 0:
            raise GitError(f"`{escape(first)}` and `{escape(second)}` have no common ancestor")
        return out.decode("ascii").strip()

    def read(self, commit: str, path: str) -> bytes | None:
        """Return the bytes of a file at a commit, or None when it does not exist there.

        Args:
            commit: a commit id.
            path: path from the top of the work tree, with forward slashes.

        Raises:
            GitError: if the object exists and cannot be read, as in a partial clone.
        """
        code, out, _ = _git(self.top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}:{path}")
        if code != 0:
            return None
        code, data, err = _git(self.top, "cat-file", "blob", out.decode("ascii").strip())
        if code != 0:
            raise GitError(f"`{escape(path)}` at `{commit[:12]}` cannot be read", hint=_reason(err))
        return data

    def files(self, commit: str, folder: str) -> tuple[str, ...]:
        """Return the paths, from the top, of the files directly below a folder at a commit."""
        code, out, _ = _git(self.top, "ls-tree", "-z", "--name-only", commit, "--", f"{folder}/")
        return tuple(os.fsdecode(path) for path in out.split(b"\0") if path) if code == 0 else ()

    def relative(self, path: Path) -> str:
        """Return a path from the top of the work tree, with forward slashes."""
        return path.resolve().relative_to(self.top.resolve()).as_posix()


def _git(folder: Path, *arguments: str) -> tuple[int, bytes, str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603 - fixed program, arguments as a list
            ["git", *_SAFE, *arguments],  # noqa: S607 - git is found as users' shells find it
            cwd=folder,
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise GitError("git is not installed", hint="install git, or compare two files instead") from error
    except subprocess.TimeoutExpired as error:
        raise GitError(f"git did not answer within {_TIMEOUT_S} s") from error
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def _reason(text: str) -> str:
    return escape(text.strip().removeprefix("fatal: ").splitlines()[0]) if text.strip() else ""
