"""Lexigraft: learned sparse retrieval over the vocabulary you choose.

The pipeline reads in the folder names: data, vocab, vectors, index, search, evaluate, explain; `pipeline` puts the
stages in order and `cli` is the command line.
"""

__version__ = "0.1.0"
