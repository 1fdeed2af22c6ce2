"""Benchmarks: each prints JSON and never passes or fails on time."""
