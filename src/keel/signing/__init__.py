"""Signatures over bundles: one file per backend."""
