"""The lockfile: its values, the strict reader, the one canonical writer, and the resolution of merges."""
