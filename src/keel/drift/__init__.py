"""Drift: what changed between a frozen surface and a later one, how bad it is, and for whom."""
