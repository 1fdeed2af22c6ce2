"""A file of expansions: for every document of a collection the words that a TILDE model adds to it, streamed."""

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.artifact import write_json
from lexigraft.core.continued_file import ContinuedFile, continued_file
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.core.folders import make_folders
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.settings import Settings
from lexigraft.core.types import Document
from lexigraft.data.collection import CORPUS
from lexigraft.expand.tilde import ExpansionCounts, choose_words
from lexigraft.learn.tilde.training import Tilde, open_tilde
from lexigraft.model.tilde import likeliest_terms
from lexigraft.stages.vocabularies import judged_collection
from lexigraft.vocab.aligned import AlignedReader
from lexigraft.vocab.batching import batches
from lexigraft.vocab.expansions import SPECIAL_SUBWORDS
from lexigraft.vocab.whole_words import NO_WORD

DOCUMENTS_AT_ONCE = 1024

KIND, FORMAT_VERSION = "expansions", 1
FILE, FACTS = "expansions.jsonl", "expansions.json"  # of an artifact

log = logging.getLogger(__name__)


def expand_collection(
    model: Path, source: str, out: Path, keep: int, top: int, settings: Settings, progress: Progress = SILENT
) -> dict[str, Any]:
    """Write the expansions of the documents of `source` to `out` (.jsonl), which appears whole or not at all; how they
    were made and what they are like lies beside it (OUT.recipe.json) and is returned. A file of the same recipe is
    kept; one of another raises. A killed call is continued by the next."""
    require_cut(keep, top)
    if not out.name.endswith(".jsonl"):
        raise InputError(f"{out}: expansions are written as plain .jsonl; give such a name")
    if out.is_dir():
        raise ArtifactError(f"{out} is a folder; give the name of a file")
    tilde, beside = open_tilde(model), out.with_name(f"{out.name}.recipe.json")
    with judged_collection(source, settings.data, progress) as collection:
        made_by = {
            "model": tilde.fingerprint, "tokenizer": tilde.facts["fingerprint"], "keep": keep, "top": top,
            "corpus": collection.digest(CORPUS),
        }  # fmt: skip
        if out.exists():
            return _same_file(out, beside, made_by)
        make_folders(out.parent)
        with continued_file(out, out.with_name(f".{out.name}.expanding"), made_by) as part:
            facts = write_expansions(tilde, collection.documents(), keep, top, part, progress)
            write_json(beside, {**made_by, **facts})
    return {**made_by, **facts}


def _same_file(out: Path, beside: Path, made_by: dict[str, Any]) -> dict[str, Any]:
    try:
        found = read_sealed(beside)
    except ArtifactError:
        raise ArtifactError(f"{out} is there already, and nothing says how it was made; give another name") from None
    for key, value in made_by.items():
        if found.get(key) != value:
            raise ArtifactError(
                f"{out} was made with {key} = {found.get(key)!r}, and {value!r} is asked for; give another name, or "
                f"remove it and {beside.name}"
            )
    return found


def require_cut(keep: int, top: int) -> None:
    """Raise unless `keep` of the `top` likeliest terms can be kept."""
    if top < 1:
        raise SettingError(f"top = {top} is not allowed: 1 or more")
    if not 0 <= keep <= top:
        raise SettingError(
            f"keep = {keep} is not allowed: at most top, which is {top}, or 0 (all that are left of them)"
        )


def write_expansions(
    tilde: Tilde, documents: Iterable[Document], keep: int, top: int, part: ContinuedFile, progress: Progress = SILENT
) -> dict[str, float]:
    """Write {"id", "text"} for every document that is not done yet; returns counts of all. The model reads a document's
    beginning; words that stand anywhere in it are not added."""
    model, words, counts = tilde.model, tilde.words, ExpansionCounts(**part.done)
    reader, terms = AlignedReader(model.tokenizer, words.words), words.words.terms
    if counts.documents:
        log.info("expanding: continuing after %d documents", counts.documents)
    left = islice(progress.track(documents, "expanding documents"), counts.documents, None)
    for batch in batches(left, lambda document: len(document.text), DOCUMENTS_AT_ONCE):
        texts = [document.contents for document in batch]
        aligned, bags = reader.read_both(texts, tilde.facts["document_length"])
        named = words.word_of[likeliest_terms(model, aligned, top)].astype(np.int64)
        named[np.diff(aligned.indptr) <= SPECIAL_SUBWORDS] = NO_WORD  # nothing was read, so nothing follows from it
        chosen = choose_words(named, bags.indptr, bags.terms.astype(np.int64), keep, len(terms))
        counts.add(chosen)
        for place, document in enumerate(batch):
            added = chosen.words[chosen.indptr[place] : chosen.indptr[place + 1]].tolist()
            record = {"id": document.doc_id, "text": " ".join(terms[number] for number in added)}
            part.file.write(json.dumps(record, ensure_ascii=False) + "\n")
        part.keep(**asdict(counts))
    if not counts.documents:
        raise InputError("the collection has no documents; its corpus file is empty")
    return counts.facts()


def make_expansions(
    model: Path,
    documents: Iterable[Document],
    keep: int,
    top: int,
    folder: Path,
    work: Path,
    depends_on: Mapping[str, Any],
    progress: Progress = SILENT,
) -> None:
    """The same as the files of an artifact in `folder`; what is unfinished lies in `work`."""
    tilde = open_tilde(model)
    with continued_file(folder / FILE, work, depends_on) as part:
        facts = write_expansions(tilde, documents, keep, top, part, progress)
    write_json(folder / FACTS, {"tokenizer": tilde.facts["fingerprint"], "keep": keep, "top": top, **facts})
