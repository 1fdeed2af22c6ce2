"""The batch side by shards: texts are encoded, counted and indexed in parts, anywhere, and joined to the same bytes."""
