"""`evaluate`."""
