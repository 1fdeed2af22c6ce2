"""What every adapter of an engine is tested by."""
