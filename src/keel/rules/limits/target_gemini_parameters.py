"""What Gemini's API with `parameters` refuses."""

from keel.rules.limits.target_rule import TargetRule, target_meta


class TargetGeminiParameters(TargetRule):
    """Applies the limits of `gemini-parameters`."""

    target = "gemini-parameters"
    meta = target_meta(
        target,
        "Gemini's API with `parameters`",
        '{"inputSchema": {"properties": {"n": {"const": 1}}}}',
    )
