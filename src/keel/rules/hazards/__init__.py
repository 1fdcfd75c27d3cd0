"""Rules about tools that give a model more power than their task needs."""
