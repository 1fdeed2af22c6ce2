"""TILDE: a model that adds to documents the words their queries may use."""
