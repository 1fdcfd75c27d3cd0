"""What OpenAI's API in strict mode refuses."""

from keel.rules.limits.target_rule import TargetRule, target_meta


class TargetOpenaiStrict(TargetRule):
    """Applies the limits of `openai-strict`."""

    target = "openai-strict"
    meta = target_meta(
        target,
        "OpenAI's API in strict mode",
        '{"inputSchema": {"properties": {"q": {"type": "string", "format": "uri"}}}}',
    )
