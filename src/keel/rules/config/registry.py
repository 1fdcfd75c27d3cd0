"""The one list of rules over configuration, sorted by id."""

from __future__ import annotations

from keel.core.finding import Finding
from keel.rules.config.confusable_package import ConfusablePackage
from keel.rules.config.dead_entry import DeadEntry
from keel.rules.config.interface import ConfigContext, ConfigRule
from keel.rules.config.unpinned_launch import UnpinnedLaunch
from keel.rules.config.unpinned_tree import UnpinnedTree

CONFIG_RULES: tuple[ConfigRule, ...] = (ConfusablePackage(), DeadEntry(), UnpinnedLaunch(), UnpinnedTree())


def lint_config(project: ConfigContext) -> tuple[Finding, ...]:
    """Run every rule over the configuration of a project; starts, reads and resolves nothing."""
    strict = project.config.profile.value == "strict"
    found = []
    for rule in CONFIG_RULES:
        raised = rule.meta.strict_severity if strict else None
        for item in rule.check(project):
            found.append(item.with_severity(raised) if raised else item)
    return tuple(sorted(set(found), key=lambda item: item.sort_key))
