"""Damage, hostile input and races, made by programs: a short run of each is a test, a long one is a command."""
