"""Which expansion terms have nothing to do with what they find: systems side by side."""
