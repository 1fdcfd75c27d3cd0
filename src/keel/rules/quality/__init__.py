"""Rules about definitions that a model would understand badly."""
