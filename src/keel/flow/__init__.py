"""Reads flow modules without running them: modules and names, then every function a flow calls, into graphs."""
