"""Rules over configuration: what is started, from where, and what nothing uses."""
