"""The edge to files, environment, processes and git."""
