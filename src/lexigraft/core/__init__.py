"""What every room shares: the nouns, errors, settings, and how artifacts are kept."""
