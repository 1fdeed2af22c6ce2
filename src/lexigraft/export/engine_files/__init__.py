"""What the targets of engines share: rows in parts, names, limits, query bodies, and what loads them."""
