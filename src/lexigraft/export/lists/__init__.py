"""What the targets of inverted lists share: lists in the order of their terms, and the bytes they are written as."""
