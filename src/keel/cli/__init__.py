"""The command line: parses, calls one use case, renders, returns an exit code; the only place that prints."""
