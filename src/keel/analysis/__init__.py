"""Graph theory over control-flow graphs: provenance, truths, covering paths, longest paths; no rule of keel's own."""
