"""Indexes come back: what other programs wrote as inverted lists or JSON vectors becomes an index of ours."""
