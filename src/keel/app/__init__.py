"""Use cases, one file each: they join the pure core with the edge and return what happened."""
