"""The queries that one document gives, and what is left of it for them to find.

A title, a first sentence and headings are cut out of the text that the model reads: a pair whose query stands in its
document word by word teaches nothing but to copy. Crops and keywords stay in: they teach which of a text's own words
weigh most. A part of the documents keeps its title, because documents that are searched have theirs.
"""

import random
from typing import NamedTuple

from lexigraft.core.types import Document
from lexigraft.made_pairs.text_parts import Link, Span, headings, links, plain, sentences, title_in_text, without
from lexigraft.made_pairs.words_of_queries import WordUse, content_words, crop, keywords, split_words

TITLE, SENTENCE, HEADING, LINK, CROP, KEYWORDS = "title", "sentence", "heading", "link", "crop", "keywords"
KINDS = (TITLE, SENTENCE, HEADING, LINK, CROP, KEYWORDS)
LEFT_OUT = (TITLE, SENTENCE, HEADING)  # kinds whose words do not stay in the document
TITLES_LEFT_OUT = 0.75  # of the documents that have one
FEWEST_WORDS_LEFT = 8  # of a document, without what was cut out
MOST_HEADINGS, MOST_LINKS = 3, 5  # of one document
LONGEST_SENTENCE = 14  # words of a sentence that is asked as it stands; of a longer one, a crop or its keywords
SAYS_ENOUGH = 2  # content words: a heading with fewer, such as "Usage", is asked with the title before it
AFTER_TITLE = (1, 2)  # keywords


class MadeQuery(NamedTuple):
    kind: str
    text: str


class Made(NamedTuple):
    """What was made of a document: what is left of it, the queries for it, and the links that may ask for others."""

    document: Document
    queries: list[MadeQuery]
    links: list[Link]


def made_of(
    document: Document, use: WordUse, chance: random.Random, held_out: bool = False, shared: bool = False
) -> Made:
    """The queries of a document and what is left of it; a document with too few words gives none and stays whole. One
    that is held out never keeps its title: by words that stand in a document, nearly every system finds it. `shared`:
    other documents have the same title, which is then asked with keywords after it."""
    title = plain(document.title)
    parts = _title_parts(document) if title and (chance.random() < TITLES_LEFT_OUT or held_out) else None
    asked: list[MadeQuery] = []
    left = document
    if parts is not None:
        left = Document(document.doc_id, "", without(document.text, parts))
        alone = not shared and len(content_words(title, use)) >= SAYS_ENOUGH
        after = "" if alone else keywords(left.text, use, chance, AFTER_TITLE, beside=title)
        asked = [MadeQuery(TITLE, f"{title} {after}".strip())]
    elif not title:
        left, asked = _without_first_sentence(document, use, chance)
    left, of_headings = _without_headings(left, title, use)
    asked += of_headings
    running = " ".join(span.said for span in sentences(left.text)) or plain(left.contents)
    if len(split_words(running)) >= FEWEST_WORDS_LEFT:
        asked.append(MadeQuery(CROP, crop(running, chance)))
        asked.append(MadeQuery(KEYWORDS, keywords(running, use, chance)))
    return Made(left, asked, links(document.text)[:MOST_LINKS])


def _title_parts(document: Document) -> list[Span] | None:
    """Where the text repeats the title; None where too little would be left without it."""
    parts = title_in_text(document.title, document.text)
    return parts if _is_enough(without(document.text, parts)) else None


def _is_enough(text: str) -> bool:
    return len(split_words(text)) >= FEWEST_WORDS_LEFT


def _without_first_sentence(
    document: Document, use: WordUse, chance: random.Random
) -> tuple[Document, list[MadeQuery]]:
    """The first sentence as a query or, of text without full stops, its first words; and the rest."""
    first = next(sentences(document.text), None)
    if first is not None and not _is_enough(without(document.text, [first])):
        first = _first_words(document.text, first, chance)
    if first is None or not _is_enough(without(document.text, [first])):
        return document, []
    said = first.said
    if len(said.split()) > LONGEST_SENTENCE:
        said = keywords(said, use, chance) if chance.random() < 0.5 else crop(said, chance)
    return document._replace(text=without(document.text, [first])), [MadeQuery(SENTENCE, said)]


def _first_words(text: str, sentence: Span, chance: random.Random) -> Span | None:
    """The beginning of a sentence that is all there is."""
    words = text[sentence.start : sentence.end].split()
    length = chance.randint(5, 10)
    if len(words) < length + FEWEST_WORDS_LEFT:
        return None
    end = sentence.start
    for word in words[:length]:
        end = text.index(word, end) + len(word)
    return Span(sentence.start, end, plain(text[sentence.start : end]))


def _without_headings(document: Document, title: str, use: WordUse) -> tuple[Document, list[MadeQuery]]:
    """Some of the headings as queries, and the text without them."""
    found = [span for span in headings(document.text) if span.said.casefold() != title.casefold()][:MOST_HEADINGS]
    if not found or not _is_enough(without(document.text, found)):
        return document, []
    asked = [
        f"{title} {span.said}".strip() if len(content_words(span.said, use)) < SAYS_ENOUGH else span.said
        for span in found
    ]
    return document._replace(text=without(document.text, found)), [MadeQuery(HEADING, text) for text in asked]
