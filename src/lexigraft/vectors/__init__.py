"""Text as sparse vectors: encoded, pruned, quantised. BM25 is one encoder among others."""
