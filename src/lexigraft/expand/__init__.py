"""Expansion beside the retrieval model: feedback, and generated text, over BM25."""
