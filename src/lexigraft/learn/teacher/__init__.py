"""A cross-encoder to distil from: what it learns from, its training, what it says, what it is worth."""
