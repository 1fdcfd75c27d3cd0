"""Rules about names that a model or a provider would confuse or refuse."""
