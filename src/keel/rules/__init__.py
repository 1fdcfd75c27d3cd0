"""Rules over tool definitions: deterministic, offline, one file each, listed in one registry."""
