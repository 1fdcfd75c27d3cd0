"""What Anthropic's API refuses."""

from keel.rules.limits.target_rule import TargetRule, target_meta


class TargetAnthropic(TargetRule):
    """Applies the limits of `anthropic`."""

    target = "anthropic"
    meta = target_meta(
        target,
        "Anthropic's API",
        '{"inputSchema": {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}}',
    )
