"""Training: one loop, its losses, and what it is fed."""
