"""The version of this keel; it never enters a lock, a bundle or a report."""

__version__ = "0.1.0"
