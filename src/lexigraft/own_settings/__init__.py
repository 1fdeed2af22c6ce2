"""A run that is given a time finds its own settings: lengths, batch, steps, learning rate, and when to stop."""
