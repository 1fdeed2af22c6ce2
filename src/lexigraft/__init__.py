"""Lexigraft: learned sparse retrieval over the vocabulary you choose."""

__version__ = "0.1.0"
