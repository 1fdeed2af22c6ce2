"""Exact top-k search over an index: one algorithm a file, all returning the same ranking."""
