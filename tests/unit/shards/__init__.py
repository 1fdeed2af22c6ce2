"""Work by shards."""
