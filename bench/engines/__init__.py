"""Engines over the same whole-number impacts, one file each, and what measures them side by side."""
