"""Arguments that are run as a program."""

from keel.rules.hazards.free_parameter import FreeParameter
from keel.rules.hazards.shared import hazard_meta
from keel.rules.lazy import lazy


class FreeCode(FreeParameter):
    """Finds unbounded source text that is evaluated: code, expressions, templates."""

    meta = hazard_meta(
        "free-code",
        "an argument is evaluated as code",
        "Source that a model writes from what it has read runs with the server's rights.",
        "run it in a sandbox without network and files and say so, or offer typed operations instead",
        '{"name": "py_eval", "inputSchema": {"properties": {"code": {"type": "string"}}}}',
        "OWASP MCP05:2025 Command Injection & Execution",
        "CWE-94",
        "CWE-1336",
    )
    names = frozenset(
        {
            "code",
            "source",
            "script",
            "snippet",
            "program",
            "expression",
            "template",
            "javascript",
            "python",
            "js",
            "function",
        }
    )
    described = lazy(
        r"\b(?:python|javascript|js|typescript|ruby|lua|php|groovy|source) (?:code|source|script|snippet|program)\b"
        r"|\b(?:code|program|script|snippet) to (?:run|execute|evaluate)\b"
    )
    use = lazy(
        r"\b(?:eval|evaluate|evaluates|execute|executes|exec|run|runs|interpret|interprets|compile|compiles)\b[^.]{0,50}"
        r"\b(?:code|python|javascript|js|ruby|lua|php|typescript|script|scripts|snippet|expression|program|function|notebook)\b"
        r"|\b(?:py|python|js|javascript|code|node|ruby|lua) (?:eval|exec|execute|run|runner|interpreter|sandbox)\b"
        r"|\b(?:eval|run|execute|exec) (?:code|python|javascript|js|script|snippet)\b"
        r"|\b(?:jinja2?|mustache|handlebars|liquid|freemarker|velocity|twig|erb|ejs)\b"
    )
    power = "any program text"
