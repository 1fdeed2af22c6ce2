"""Vocabularies of any origin, opened by path, and collections to try them on, without a run around them."""

import json
import logging
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lexigraft.core.artifact import open_artifact, read_manifest
from lexigraft.core.errors import InputError
from lexigraft.core.pinned import of_one_version
from lexigraft.core.plain_files import read_plain_file
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import DataSettings
from lexigraft.data.collection import Collection
from lexigraft.stages.collect import collect, collected
from lexigraft.stages.find_model import find_part
from lexigraft.stages.layout import JUDGED
from lexigraft.vocab import lexicon, tokenizer_files
from lexigraft.vocab.opened import OpenVocabulary, from_lexicon, from_tokenizer, from_words

ACCEPTED = (
    "a learned vocabulary (RUN/model/vocabulary), a run that has one, a tokenizer folder (with tokenizer.json or "
    "vocab.txt), or a text file with one term a line"
)
LONGEST_TERM = 200  # characters: a longer line is no term, and its file no list of terms; nor is a table or JSON

log = logging.getLogger(__name__)


def open_vocabulary(path: Path) -> OpenVocabulary:
    """The vocabulary at `path`; raises `InputError` where there is none or it is empty."""
    opened = _open(path)
    if not len(opened):
        raise InputError(f"the vocabulary at {path} is empty; give {ACCEPTED}")
    return opened


def _open(path: Path) -> OpenVocabulary:
    if not path.exists():
        raise InputError(f"there is no vocabulary at {path}; give {ACCEPTED}")
    manifest = read_manifest(path)
    if manifest is not None and manifest.kind == lexicon.KIND:
        return _open_learned(path, str(path))
    if manifest is None and path.is_dir() and (learned := find_part(path, ("vocabulary",))) is not None:
        return _open_learned(learned, str(path))
    if manifest is not None and manifest.kind == tokenizer_files.KIND:
        return _open_tokenizer(path, str(path))
    if tokenizer_files.is_tokenizer(path):
        return from_tokenizer(str(path), tokenizer_files.open_tokenizer(path))
    if path.name in (tokenizer_files.MODEL_FILE, tokenizer_files.PIECES_FILE):
        return from_tokenizer(str(path), tokenizer_files.open_tokenizer(path.parent))
    if path.is_file():
        return from_words(str(path), _read_terms(path))
    raise InputError(f"{path} is not a vocabulary; give {ACCEPTED}")


@of_one_version
def _open_tokenizer(path: Path, called: str) -> OpenVocabulary:
    open_artifact(path, tokenizer_files.KIND, tokenizer_files.FORMAT_VERSION)
    return from_tokenizer(called, tokenizer_files.open_tokenizer(path))


@of_one_version
def _open_learned(folder: Path, called: str) -> OpenVocabulary:
    opened = lexicon.open_lexicon(folder)
    if opened.subwords:
        return from_tokenizer(called, tokenizer_files.open_tokenizer(folder))
    facts = json.loads(read_plain_file(folder / "vocabulary.json"))
    return from_lexicon(called, opened, facts.get("coverage"))


def _read_terms(path: Path) -> list[str]:
    """The distinct lines of a text file, blank ones left out."""
    terms: dict[str, None] = {}
    n_lines = 0
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                term = line.strip()
                if len(term) > LONGEST_TERM or "\0" in term or "\t" in term or term.startswith('{"'):
                    raise InputError(f"{path}:{number} is not a term ({term[:40]!r}...); give {ACCEPTED}")
                n_lines += bool(term)
                if term:
                    terms[term] = None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text ({error}); give {ACCEPTED}") from error
    if n_lines > len(terms):
        log.warning("%s: %d of %d lines repeat a term; each counts once", path, n_lines - len(terms), n_lines)
    return list(terms)


def short_names(paths: Sequence[str]) -> list[str]:
    """The last part of each path; the whole where that does not tell them apart."""
    short = [Path(path).resolve().name for path in paths]
    return short if len(set(short)) == len(short) else list(paths)


@contextmanager
def judged_collection(source: str, settings: DataSettings, progress: Progress = SILENT) -> Iterator[Collection]:
    """The view of `source` that has queries; what has to be written out for it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="lexigraft-") as name:
        folder = Path(name)
        collect(source, settings, folder, progress)
        yield collected(source, settings, folder)[JUDGED]
