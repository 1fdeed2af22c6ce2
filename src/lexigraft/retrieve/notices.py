"""What to tell whoever asked something: which signs of the query mean nothing here, and which of its words are known to
nobody, with what they may have been meant for. Rankings never depend on it."""

import logging
from functools import cached_property

from lexigraft.core.encoder_description import BM25_KINDS
from lexigraft.core.errors import LexigraftError
from lexigraft.inference.meta import OF_SUBWORDS, read_meta
from lexigraft.retrieve.nearest_words import NearestWords
from lexigraft.retrieve.opened import Opened
from lexigraft.retrieve.operators import said_of_operators
from lexigraft.retrieve.place import Place, find_place
from lexigraft.retrieve.unknown_words import asked_words, said_of_unknown, unknown_words
from lexigraft.stages.layout import RunFolder
from lexigraft.vectors.term_queries import KIND as TERMS

NO_WORD = "no word of the query is in the collection"
MOST_NAMED = 3  # words that a query may have been meant for

log = logging.getLogger(__name__)


class Notices:
    """Of one system: `state` is its index, and None where it has no terms. Safe from many threads."""

    def __init__(self, place: Place, state: Opened | None) -> None:
        self._place, self._state = place, state
        self._nearest: NearestWords | None = None  # made when it is first needed

    def of(self, query: str) -> tuple[str, ...]:
        """A line each; none of a query of which all is clear."""
        is_of_terms = self._state is not None and self._state.index.query_encoder.get("kind") == TERMS
        said = ["" if is_of_terms else said_of_operators(query), self._said_of_words(query)]
        return tuple(line for line in said if line)

    def _said_of_words(self, query: str) -> str:
        unknown = [] if self._state is None else unknown_words(self._state, query)
        if not self._has_known(query) and (words := self._words) is not None:
            asked = asked_words(words, query)
            if asked and unknown_words(words, query) == asked:
                return self._said_of_all(asked)
        return said_of_unknown(unknown)

    def _has_known(self, query: str) -> bool:
        """Whether the system itself knows a word of the query as a term that some document holds. Subwords are no sign
        of that, but for one that is the whole word."""
        state = self._state
        if state is None:
            return False
        names, held_by = state.index.vocabulary.terms, [one.index.document_frequency for one in state.index.segments]
        for word in asked_words(state, query):
            terms = state.own_terms(word).tolist()
            held = [term for term in terms if any(term < len(lengths) and lengths[term] for lengths in held_by)]
            if held and (not self._writes_subwords or [names[term] for term in terms] == [word.lower()]):
                return True
        return False

    @cached_property
    def _writes_subwords(self) -> bool:
        state = self._state
        assert state is not None, "who asks has looked"
        description = state.index.query_encoder
        if description.get("kind") != "model":
            return False
        if "subwords" in description:
            return bool(description["subwords"])
        return read_meta((state.place.index / description["model"]).resolve()).head in OF_SUBWORDS

    @cached_property
    def _words(self) -> Opened | None:
        """What knows the words of the collection: BM25 of the same run, or the system itself where its terms are words.
        None where nothing does, or where it cannot be opened now: a search does not fail for that."""
        state, run = self._state, self._place.run
        if state is not None and state.index.query_encoder.get("kind") in BM25_KINDS:
            return state
        try:
            if run is not None and (name := _system_of_words(run)) is not None:
                return Opened(find_place(run.root, name))
            return None if state is None or self._writes_subwords else state
        except (LexigraftError, OSError) as error:
            log.debug("the words of the collection are not known: %s", error)
            return None

    def _said_of_all(self, asked: list[str]) -> str:
        """That no word of a query is in the collection, and what may have been meant."""
        assert self._words is not None, "who says so has asked it"
        if self._nearest is None:  # two threads may both make it
            self._nearest = NearestWords(self._words)
        each, nearest = MOST_NAMED if len(asked) == 1 else 1, self._nearest
        near = list(dict.fromkeys(found for word in asked[:MOST_NAMED] for found in nearest.of(word, each)))
        *others, last = near or [""]
        listed = f"{', '.join(others)} or {last}" if others and len(asked) == 1 else ", ".join(near)
        return f"{NO_WORD}: {', '.join(asked)}" + (f"; did you mean {listed}?" if near else "")


def _system_of_words(run: RunFolder) -> str | None:
    """The first system that searches words, without a model."""
    contents = run.read_contents()
    return next((name for name in run.ready() if name not in {**contents.models, **contents.kinds}), None)
