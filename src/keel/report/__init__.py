"""Report formats: pure functions from a report to text, listed by name in the registry."""
