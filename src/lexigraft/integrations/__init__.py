"""Retrievers and encoders as other frameworks know them: one file each, imported only when it is used."""
