"""What a ranking is worth and what it costs."""
