"""Words by concept in several languages, and the patterns of concepts that text rules look for."""
