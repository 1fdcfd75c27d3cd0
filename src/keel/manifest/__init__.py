"""The project's configuration and capability manifest: text to values, every error at once."""
