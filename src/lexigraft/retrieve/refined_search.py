"""A search with more than a query: an overlap threshold, a second pass over full vectors, conditions on metadata."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lexigraft.core.artifact import read_manifest
from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.index.live.state import is_live
from lexigraft.index.metadata import open_metadata
from lexigraft.index.store import open_index
from lexigraft.retrieve.text_search import Hit, TextSearch
from lexigraft.search.filters import filter_mask, parse_condition
from lexigraft.search.refine import refined
from lexigraft.search.searcher import Searcher
from lexigraft.stages.layout import RunFolder


@dataclass(frozen=True)
class Refinement:
    """What a person may ask for beside a query; `qk` and `dk` are of the first of two steps."""

    overlap: float = 0.0
    two_step: int = 0
    qk: int = 0
    dk: int = 0
    where: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.two_step and (self.qk or self.dk):
            raise SettingError("--qk and --dk prune the first pass of a two-step search; give --two-step N with them")

    def __bool__(self) -> bool:
        return bool(self.overlap or self.two_step or self.where)


@dataclass(frozen=True)
class Place:
    """Where an index and what belongs to it lies."""

    index: Path
    pruned: Path  # the index of the first of two steps
    vectors: Path | None
    metadata: Path


def place_in_run(run: RunFolder, system: str | None, dk: int) -> Place:
    """Of the system that a person searches in a run; raises where the run has no index of `dk` terms."""
    view, name = run.searchable(system)
    pruned = run.index(view, name, dk)
    if not pruned.is_dir():
        found = sorted(int(match[1]) for path in pruned.parent.iterdir() if (match := _PRUNED.fullmatch(path.name)))
        present = ", ".join(map(str, found)) or "none"
        raise ArtifactError(f"{pruned.parent} has no index of --dk {dk} terms a document; present: {present}")
    return Place(run.index(view, name, 0), pruned, run.vectors(view, name), run.metadata(view))


def place_of_index(index: Path, vectors: Path | None) -> Place:
    return Place(index, index, vectors, index.with_name(f"{index.name}.metadata"))


_PRUNED = re.compile(r"index-dk(\d+)")


def open_refined(
    run: Path, index: Path | None, system: str | None, vectors: Path | None, refinement: Refinement
) -> "RefinedTextSearch":
    """The index at `index`, with the `vectors` that it was made of, or else that of the run at `run`."""
    if index is None:
        if vectors is not None:
            raise SettingError("--vectors are those of an --index; a run keeps its own")
        return RefinedTextSearch(place_in_run(RunFolder(run), system, refinement.dk), refinement)
    if refinement.dk:
        raise SettingError("--dk chooses among the indexes of a --run; an --index has only one")
    return RefinedTextSearch(place_of_index(index, vectors), refinement)


def require_plain(index: Path) -> None:
    """Raise for an index that lives: metadata and vectors belong to documents that stay as they are."""
    if is_live(index):
        raise SettingError(
            f"{index} is a live index, which is searched without --where, --overlap and --two-step; make a plain one "
            "of the same documents: lexigraft index --out"
        )


def require_made_of(index: Path, vectors: Path) -> None:
    """Raise where the index at `index` says that it was made of other vectors than those at `vectors`. One that was
    indexed from text does not say; then the documents' ids are compared while they are ranked."""
    of_index, of_vectors = read_manifest(index), read_manifest(vectors)
    wanted = of_index.parents.get("vectors") if of_index else None
    if wanted and of_vectors and of_vectors.fingerprint != wanted:
        raise ArtifactError(
            f"{index} was not made of the vectors at {vectors}, or they were made again since; give those that it was "
            "made of, or index these"
        )


class RefinedTextSearch(TextSearch):
    """Text to hits as `TextSearch`, with a `Refinement`. Explanations are of the index without pruning."""

    why_nothing = "no document that shares a word with the query fulfils what else was asked"

    def __init__(self, place: Place, refinement: Refinement, method: str = "auto") -> None:
        require_plain(place.index)
        super().__init__(place.index, method)
        first = self.index.segments[0].index if place.pruned == place.index else open_index(place.pruned)
        if refinement.two_step and place.vectors is not None:
            require_made_of(place.pruned, place.vectors)
        steps = (refinement.overlap, refinement.two_step, refinement.qk, place.vectors)
        self._refined = refined(Searcher(first, method), *steps)
        self._allowed = None
        if refinement.where:
            conditions = [parse_condition(text) for text in refinement.where]
            if not place.metadata.is_dir():
                raise ArtifactError(
                    f"there are no metadata at {place.metadata} to filter by; make them of the collection or a file: "
                    "lexigraft index metadata"
                )
            self._allowed = filter_mask(first, open_metadata(place.metadata, first), conditions)

    def search(self, text: str, k: int = 10) -> list[Hit]:
        """The k best documents that fulfil everything; empty where none does."""
        index = self._refined.index
        ordinals, scores = self._refined.search_ordinals(*self._encoder.encode(text), k, self._allowed)
        doc_ids, titles = index.names(ordinals), index.titles.take(ordinals)
        return [Hit(rank, *found) for rank, found in enumerate(zip(doc_ids, scores.tolist(), titles, strict=True), 1)]
