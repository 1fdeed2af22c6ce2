"""Data sets made of click logs, and collections converted."""
