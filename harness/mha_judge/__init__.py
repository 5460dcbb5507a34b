"""A judge for coding exercises on Transformer attention."""

__version__ = "0.1.0"
