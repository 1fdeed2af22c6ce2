"""Pairs that would teach nothing, or measure nothing: why each is dropped, in words that a report has."""

from lexigraft.core.types import Document
from lexigraft.made_pairs.words_of_queries import WordUse, content_words, split_words

NEAR_COPY = "document is a near-copy of one before"
TOO_SHORT = "fewer than 2 words"
NO_CONTENT = "only words that say nothing (stop-words, or in most documents)"
ALL_OF_IT = "the query is all that the document says"
TOO_MANY = "asks for more than 5 documents"
MEASURED = "the same as a judged query that is measured"
MIXED = "asks for documents that train and for others that are held out"
REASONS = (NEAR_COPY, TOO_SHORT, NO_CONTENT, ALL_OF_IT, TOO_MANY, MEASURED, MIXED)
FEWEST_WORDS = 2
MOST_DOCUMENTS = 5


def query_key(text: str) -> str:
    """What makes two queries the same: their words."""
    return " ".join(split_words(text))


def why_trivial(text: str, document: Document, use: WordUse) -> str:
    """Why a query for a document, as far as the two of them tell, is dropped; empty where it is not."""
    words = split_words(text)
    if len(words) < FEWEST_WORDS:
        return TOO_SHORT
    if not content_words(text, use):
        return NO_CONTENT
    return ALL_OF_IT if words == split_words(document.contents) else ""
