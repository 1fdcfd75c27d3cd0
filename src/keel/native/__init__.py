"""Native tools: from a function of the project to a tool definition and a source fingerprint."""
