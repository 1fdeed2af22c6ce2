"""How good a ranking is, and what it costs."""
