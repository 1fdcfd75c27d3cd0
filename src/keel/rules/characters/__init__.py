"""Rules about characters that a reader does not see."""
