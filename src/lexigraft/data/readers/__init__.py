"""Readers of one kind of file each."""
