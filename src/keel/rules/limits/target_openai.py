"""What OpenAI's API refuses."""

from keel.rules.limits.target_rule import TargetRule, target_meta


class TargetOpenai(TargetRule):
    """Applies the limits of `openai`."""

    target = "openai"
    meta = target_meta(
        target,
        "OpenAI's API",
        '{"inputSchema": {"properties": {"filter[status]": {"type": "string"}}}}',
    )
