"""How text becomes words and words become terms."""
