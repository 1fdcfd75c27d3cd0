"""What Gemini's API with `parametersJsonSchema` refuses."""

from keel.rules.limits.target_rule import TargetRule, target_meta


class TargetGeminiJsonSchema(TargetRule):
    """Applies the limits of `gemini-json-schema`."""

    target = "gemini-json-schema"
    meta = target_meta(
        target,
        "Gemini's API with `parametersJsonSchema`",
        '{"inputSchema": {"properties": {"ids": {"type": "array"}}}}',
    )
