"""The same vectors in engines that already scale: Milvus, Qdrant, PostgreSQL."""
