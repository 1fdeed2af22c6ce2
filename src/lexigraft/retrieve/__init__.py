"""Text to ranked and explained documents."""
