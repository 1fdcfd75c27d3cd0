"""Rules about text that steers the model instead of describing the tool."""
