"""Rules about schemas that cannot be validated against."""
