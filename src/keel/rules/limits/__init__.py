"""Rules about what model providers refuse, as dated data."""
