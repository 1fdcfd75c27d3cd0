"""The bundle: one deterministic archive of what may be deployed, every member digested."""
