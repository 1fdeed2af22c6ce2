"""Systems, prunings and indexes side by side, with their costs."""
