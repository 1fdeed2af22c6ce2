"""What the papers ask: wackiness, expansion."""
