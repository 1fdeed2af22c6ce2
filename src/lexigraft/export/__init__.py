"""What Lexigraft trained, in the forms that other programs read: one target a file, each with what is kept and lost."""
