"""BM25 with expanded queries or documents."""
