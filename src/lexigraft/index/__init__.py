"""Inverted indexes with quantised impacts: built from a stream of vectors, read by memory map."""
