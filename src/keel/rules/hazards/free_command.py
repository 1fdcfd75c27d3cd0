"""Arguments that are run as a command line."""

from keel.rules.hazards.free_parameter import FreeParameter
from keel.rules.hazards.shared import hazard_meta
from keel.rules.lazy import lazy


class FreeCommand(FreeParameter):
    """Finds unbounded strings that are handed to a shell."""

    meta = hazard_meta(
        "free-command",
        "an argument is run as a command line",
        "Whoever steers the model has a shell with the server's rights.",
        "offer one tool for each command, or an `enum` of commands with separate arguments",
        '{"name": "run_shell", "inputSchema": {"properties": {"command": {"type": "string"}}}}',
        "OWASP MCP05:2025 Command Injection & Execution",
        "SAFE-T1101 Command Injection",
        "CWE-78",
    )
    names = frozenset(
        {
            "command",
            "commands",
            "cmd",
            "cmds",
            "cmdline",
            "command_line",
            "shell",
            "bash",
            "script",
            "argv",
            "powershell",
        }
    )
    described = lazy(
        r"\b(?:shell|bash|terminal|console) (?:line|command|input|script)\b|\bcommand[- ]line to\b"
        r"|\b(?:command|line|what) to (?:run|execute|type|enter)\b"
    )
    use = lazy(
        r"\b(?:shell|bash|zsh|powershell|ssh|terminal|subprocess|console|command[- ]?lines?|cmd\.exe)\b"
        r"|\b(?:run|runs|execute|executes|exec|invoke|invokes|spawn|spawns)\b[^.]{0,40}\b(?:command|commands|script|scripts|process)\b"
        r"|\b(?:exec|execute|run)\b (?:command|cmd|script|process)"
    )
    power = "any command line"
