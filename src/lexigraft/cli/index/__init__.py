"""`index`: building an index, and the commands of indexes."""
