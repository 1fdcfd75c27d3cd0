"""keel: the lockfile, linter and deploy gate for the tools that AI agents call."""
