"""Two systems of a run opened to be judged by the user."""

from collections.abc import Sequence
from pathlib import Path

from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.core.systems_table import BM25
from lexigraft.explain.contributions import explain
from lexigraft.measure.sequential import DEPTH
from lexigraft.retrieve.answer import FoundDocument, found_documents
from lexigraft.retrieve.judging import Find, Judging
from lexigraft.retrieve.opened import Opened
from lexigraft.retrieve.place import how_to_keep_texts
from lexigraft.retrieve.retriever import Retriever
from lexigraft.search.live import Place as FoundPlace
from lexigraft.stages.layout import RunFolder

USUAL = "grafted"  # what is judged against BM25 where nothing else is asked for


def pair_of(ready: Sequence[str], where: str, system: str | None, baseline: str | None) -> tuple[str, str]:
    """The two systems to judge, of those that are `ready` in a run: a baseline, BM25 where nothing is said, and
    another, the usual one or else the only other one."""
    first = baseline or BM25
    others = [name for name in ready if name != first]
    second = system or (USUAL if USUAL in others or len(others) != 1 else others[0])
    for name in (first, second):
        if name not in ready:
            raise ArtifactError(f"{where} has no system {name!r} to judge; present: {', '.join(ready)}")
    if first == second:
        raise SettingError(f"system and baseline are both {first}; give two of {', '.join(ready)}")
    return first, second


def open_judging(root: Path, system: str | None = None, baseline: str | None = None) -> Judging:
    """Open two systems of a run to be judged. Raises where it lacks one of them, or keeps no texts to show."""
    run = RunFolder(root)
    names = pair_of(list(run.ready()), f"the run at {root}", system, baseline)
    opened = [Retriever.open(root, name) for name in names]
    with_terms = next((one for one in opened if not one.place.kind), None)
    if with_terms is None:
        raise SettingError(f"neither {names[0]} nor {names[1]} has terms, by which texts are cut; judge one with bm25")
    if not with_terms.keeps_texts:
        raise ArtifactError(how_to_keep_texts(with_terms.place))
    first, second = (_finder(one) for one in opened)
    return Judging(root, names, (first, second), lambda text, ids: shown_by(with_terms.opened, text, ids))


def _finder(retriever: Retriever) -> Find:
    return lambda text: [hit.doc_id for hit in retriever.search(text, DEPTH)]


def shown_by(state: Opened, text: str, doc_ids: Sequence[str]) -> Sequence[FoundDocument]:
    """What a system shows of these documents for a question, whether it finds them or not."""
    row = state.cut(state.encode(text))
    segments = [state.index.segment_of(doc_id) for doc_id in doc_ids]
    why = [explain(segment.index, *row, doc_id) for segment, doc_id in zip(segments, doc_ids, strict=True)]
    places = [FoundPlace(doc_id, one.score, segment, one.doc_ordinal)
              for doc_id, one, segment in zip(doc_ids, why, segments, strict=True)]  # fmt: skip
    return found_documents(state, row, places, why)
