"""Defaults that make the destructive variant the usual one."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.annotations.shared import DESTRUCTIVE
from keel.rules.hazards.shared import hazard_meta
from keel.rules.interface import Rule, RuleContext, ToolView
from keel.rules.view import Sign

_ON = frozenset(
    {
        "recursive",
        "recurse",
        "overwrite",
        "permanent",
        "permanently",
        "hard",
        "purge",
        "cascade",
        "all",
        "delete_all",
        "wipe",
    }
    | {
        "include_subdirectories",
        "hard_delete",
        "prune",
        "remove_all",
        "everything",
        "clobber",
        "delete_data",
        "skip_trash",
    }
    | {"delete_branch", "delete_remote", "drop_existing", "truncate", "erase", "delete_files", "notify_all", "destroy"}
)
_OFF = frozenset(
    {
        "dry_run",
        "dryrun",
        "preview",
        "simulate",
        "backup",
        "create_backup",
        "soft_delete",
        "use_trash",
        "plan_only",
        "check_mode",
    }
)
_REMOVING = DESTRUCTIVE | frozenset({"remove", "clean", "cleanup", "prune", "clear", "reset", "uninstall", "rm"})
_APPLYING = _REMOVING | frozenset(
    {"apply", "deploy", "migrate", "sync", "restore", "rollback", "merge", "execute", "run", "import"}
)
_WIDENING = frozenset({"recursive", "recurse", "all", "include_subdirectories", "everything", "cascade"})
"""On these, the danger lies in what the tool does: listing recursively harms nothing."""


class DangerousDefault(Rule):
    """Finds destructive switches that are on by default and safety switches that are off, where things change."""

    meta = hazard_meta(
        "dangerous-default",
        "the destructive variant is the default",
        "A model leaves out what it may leave out, so the default is what mostly happens.",
        "turn the default around, or make the argument required",
        '{"name": "remove_files", "inputSchema": {"properties": {"recursive": {"type": "boolean", "default": true}}}}',
        "CWE-1188",
    )

    needs = Sign.DEFAULT.value

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each default."""
        if tool.hint("readOnlyHint") is True:
            return
        words = frozenset(tool.words)
        for parameter in tool.parameters:
            joined, default = "_".join(parameter.words), parameter.get("default")
            removing, applying = words & _REMOVING, words & _APPLYING
            on = default is True and joined in _ON and (removing or joined not in _WIDENING)
            off = default is False and joined in _OFF and applying and tool.hint("destructiveHint") is not False
            if on or off:
                message = f"`{excerpt(parameter.name)}` is {str(default).lower()} by default on `{excerpt(tool.name)}`"
                yield self.finding(tool, f"{parameter.pointer}/default", message)
