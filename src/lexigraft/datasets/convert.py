"""Any collection as files in BEIR layout, with queries and judgements from other files where they are given."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.data.collection import FolderCollection
from lexigraft.data.reading import Reading
from lexigraft.data.sources import open_source
from lexigraft.data.twins import find_twins, judge_first
from lexigraft.data.write import write_collection

KIND, FORMAT_VERSION = "converted collection", 1


def convert(
    source: str,
    out: Path,
    reading: Reading,
    queries: Sequence[Path] = (),
    qrels: Mapping[str, Path] | None = None,
    merge_twins: bool = False,
    progress: Progress = SILENT,
) -> int:
    """Write `source` at `out`. `queries` (of any kind that a folder may hold) take the place of its own, `qrels` are
    added by split. `merge_twins`: of documents with the same text only the first is written, and the judgements of the
    others are its own; returns how many were left out."""
    if Path(source).resolve() == out.resolve():
        raise SettingError(f"--out {out} is the collection itself; give another folder")
    if wrong := [split for split in qrels or {} if not re.fullmatch(r"[\w.-]*\w[\w.-]*", split)]:
        raise SettingError(f"--qrels: {wrong[0]!r} is no name for a split: letters, digits, '.', '_' and '-'")
    collection = open_source(source, reading)
    if queries or qrels:
        if not isinstance(collection, FolderCollection):
            raise InputError(f"{source} has its own queries and judgements; give a folder or file of documents")
        files = {**collection.qrels_files, **(qrels or {})}
        collection = replace(collection, query_files=tuple(queries) or collection.query_files, qrels_files=files)
    described = {split: collection.digest(split) for split in collection.splits}
    parents = {"corpus": collection.digest("corpus"), "queries": collection.digest("queries"), **described}
    twins = find_twins(progress.track(collection.documents(), "looking for twins")) if merge_twins else {}
    config = {"source": source, **({"merge_twins": True} if merge_twins else {})}
    with write_artifact(out, Manifest(KIND, FORMAT_VERSION, config, parents)) as folder:
        documents = progress.track(collection.documents(), "writing documents")
        judged = {split: judge_first(collection.qrels(split), twins) for split in collection.splits}
        kept = (document for document in documents if document.doc_id not in twins)
        write_collection(folder, kept, collection.queries(), judged)
    return len(twins)
