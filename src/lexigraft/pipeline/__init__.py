"""The stages in order: what each needs, what it leaves, and which of them a changed setting touches."""
