"""What Amazon Bedrock refuses."""

from keel.rules.limits.target_rule import TargetRule, target_meta


class TargetBedrock(TargetRule):
    """Applies the limits of `bedrock`."""

    target = "bedrock"
    meta = target_meta(
        target,
        "Amazon Bedrock",
        '{"name": "ping", "description": ""}',
    )
