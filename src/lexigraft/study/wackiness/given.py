"""Systems that are given without a run, over a collection that is named beside them.

OUT/NAME/{vectors,index}/              the collection's documents, encoded by a model
OUT/NAME/vectors/                      those of an index, read back from it
OUT/bm25/{vectors,index}/              for generated text of queries: documents as they are
OUT/NAME/doc2query/{vectors,index}/    for generated text of documents: with it at their ends
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import NamedTuple

from lexigraft.comparison.open_systems import OpenSystem
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.settings import DataSettings, IndexSettings, Settings
from lexigraft.data.collection import Collection
from lexigraft.expand.generated import read_generated
from lexigraft.stages.standalone import find_finetuned
from lexigraft.study.expansion.over_bm25 import DOC2QUERY, PLAIN, QUERY2DOC
from lexigraft.study.expansion.work import Work, lexical_index
from lexigraft.study.wackiness.encoding import FROM_MODEL, encode_and_index
from lexigraft.study.wackiness.index import open_alone, open_plain
from lexigraft.study.wackiness.place import Workplace
from lexigraft.study.wackiness.settings import WackinessSettings
from lexigraft.vectors.deciding_words import LEXICAL, decide_words

PlaceOf = Callable[[str], Workplace]  # the workplace of a system, by its name


class Opened(NamedTuple):
    """A system, and what it was given as: {"run": PATH}, {"model": PATH}, ..."""

    system: OpenSystem
    given_as: dict[str, str]


@dataclass(frozen=True)
class GivenSystems:
    """`models`: folders of trained or imported models, or of runs with one. `indexes`: of plain indexes. `query_texts`:
    files of generated text for queries (Query2Doc), `document_texts` for documents (DocT5Query), both with BM25."""

    models: Sequence[Path] = ()
    indexes: Sequence[Path] = ()
    query_texts: Sequence[Path] = ()
    document_texts: Sequence[Path] = ()

    @property
    def paths(self) -> list[Path]:
        return [*self.models, *self.indexes, *self.query_texts, *self.document_texts]

    def require_usable(self, data: str | None, settings: WackinessSettings) -> None:
        """Raise for what cannot work, before anything is encoded."""
        if self.paths and data is None:
            raise SettingError(
                f"{self.paths[0]} has no collection of its own; name the one to measure on: --data COLLECTION"
            )
        if self.query_texts and settings.documents:
            raise SettingError("--generated expands queries, and no documents; leave out --documents")
        if self.document_texts and (settings.queries or not settings.documents):
            raise SettingError("--generated-documents expands documents, and no queries: give --documents --queries 0")
        for model in self.models:
            find_finetuned(model)
        for index in self.indexes:
            open_plain(index)
        for file in (*self.query_texts, *self.document_texts):
            if next(read_generated(file), None) is None:
                raise InputError(f"{file} is empty; give generated text as .jsonl or .tsv")


def open_given(
    given: GivenSystems, collection: Collection, out: Path, taken: Sequence[str], place_of: PlaceOf
) -> list[Opened]:
    """The systems over `collection`, in the order of `GivenSystems`, each made ready in its workplace in `out` and
    named unlike those `taken`."""
    names = [*taken, PLAIN]  # whose folder has the index of BM25

    def free(wanted: str) -> str:
        tried = (wanted if n == 1 else f"{wanted}-{n}" for n in count(1))
        names.append(next(name for name in tried if name not in names))
        return names[-1]

    opened = []
    for path in given.models:
        place = place_of(free(path.resolve().name))
        opened.append(Opened(_of_model(path, collection, place), {"model": str(path)}))
    for path in given.indexes:
        place = place_of(free(path.resolve().name))
        opened.append(Opened(open_alone(path, collection, place), {"index": str(path)}))
    for file in given.query_texts:
        place = place_of(free(f"{PLAIN}+{_short(file)}"))
        opened.append(Opened(_with_query_texts(file, collection, out, place), {"generated": str(file)}))
    for file in given.document_texts:
        place = place_of(free(f"{PLAIN}+{_short(file)}"))
        opened.append(Opened(_with_document_texts(file, collection, place), {"generated_documents": str(file)}))
    return opened


def _short(file: Path) -> str:
    """query2doc.jsonl.gz: query2doc."""
    return file.name.removesuffix(".gz").rpartition(".")[0]


def _of_model(path: Path, collection: Collection, place: Workplace) -> OpenSystem:
    model, fingerprint = find_finetuned(path)
    model, data = model.resolve(), DataSettings()
    # Vectors keep the way to their model: where it has moved, those from before would not find it.
    config = {**FROM_MODEL, "model": os.path.relpath(model, place.folder.resolve())}
    made = encode_and_index(place, "", collection, data, model, fingerprint, IndexSettings(), config)
    return OpenSystem(place.name, "model", collection, data, *made)


def _with_query_texts(file: Path, collection: Collection, out: Path, place: Workplace) -> OpenSystem:
    work = _lexical_work(collection, out, place)
    index = lexical_index(work, PLAIN)
    found = OpenSystem(
        place.name, f"{PLAIN}+{QUERY2DOC}", collection, work.settings.data, index, index.with_name("vectors")
    )
    return replace(found, query_texts=file)


def _with_document_texts(file: Path, collection: Collection, place: Workplace) -> OpenSystem:
    work = _lexical_work(collection, place.folder, place)
    index = lexical_index(work, DOC2QUERY, file)
    return OpenSystem(
        place.name, f"{PLAIN}+{DOC2QUERY}", collection, work.settings.data, index, index.with_name("vectors")
    )


def _lexical_work(collection: Collection, out: Path, place: Workplace) -> Work:
    settings = Settings()
    decided = decide_words(settings, collection.documents(), [LEXICAL])
    return Work(collection, out, decided, settings.data.split, place.progress)
