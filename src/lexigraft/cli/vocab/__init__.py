"""`vocab`: learning vocabularies and looking at them."""
