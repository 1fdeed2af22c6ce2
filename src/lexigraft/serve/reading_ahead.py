"""Words of documents, read while nobody asks. To tell which words of a text matched costs most where they were never
seen; the words of a few hundred documents are most of those that any result will have."""

from collections.abc import Iterator

from lexigraft.retrieve.opened import Opened

SAMPLED = 400  # documents, spread over the collection
LONGEST = 20_000  # characters of a text: a single one must not hold others up
AT_A_LOOK = 10  # that are read between two looks at the files: some milliseconds


def reading_ahead(state: Opened) -> Iterator[None]:
    """Reads a document a step."""
    if not state.keeps_texts:
        return
    index = state.index.segments[0].index
    for ordinal in range(0, index.n_documents, max(1, index.n_documents // SAMPLED)):
        text = state.text_of(index, ordinal)
        if text is not None:
            state.words.read(text.title)
            state.words.read(text.text[:LONGEST])
        yield
