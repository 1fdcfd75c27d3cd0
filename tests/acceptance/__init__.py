"""The real command line, run as its users run it."""
