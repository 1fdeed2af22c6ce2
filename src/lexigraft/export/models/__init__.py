"""What the targets of models share: which model is meant, its card, and what stock modules can hold."""
