"""Click logs: read, filtered, labelled, and simulated."""
