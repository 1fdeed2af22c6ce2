"""One vector a text: a dense encoder opened, its documents' vectors on disk, and their exact search."""
