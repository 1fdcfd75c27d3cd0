"""Arguments that are a path without bounds."""

from keel.rules.hazards.free_parameter import FreeParameter
from keel.rules.hazards.shared import hazard_meta
from keel.rules.interface import Severity
from keel.rules.lazy import lazy


class FreePath(FreeParameter):
    """Finds unbounded paths of tools that read, write or delete files."""

    meta = hazard_meta(
        "free-path",
        "an argument is a path that nothing bounds",
        "A path that may be absolute or hold `..` reaches keys and configuration unless the server confines it.",
        "say which root the server confines paths to, and bound the value with a `pattern`",
        '{"name": "remove_dir", "inputSchema": {"properties": {"directory": {"type": "string"}}}}',
        "SAFE-T1105 Path Traversal via File Tool",
        "CWE-22",
        severity=Severity.INFO,
    )
    names = frozenset(
        {
            "path",
            "paths",
            "file",
            "filename",
            "filepath",
            "file_path",
            "directory",
            "dir",
            "folder",
            "glob",
            "pathname",
            "cwd",
        }
    )
    use = lazy(r"\b(?:file|files|filename|path|paths|directory|directories|folder|folders|glob)\b")
    power = "any path"
