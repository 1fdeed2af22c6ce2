"""A run's folder and the collection that it is of: refused to another one, and emptied for it where that is meant."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import Any

from lexigraft.core.artifact import (
    DRAFT_MARK,
    MANIFEST,
    OF_THE_SYSTEM,
    foreign_files,
    is_artifact,
    read_manifest,
)
from lexigraft.core.continued_file import PART, STATE
from lexigraft.core.errors import ArtifactError
from lexigraft.core.lock import LOCK
from lexigraft.core.pinned import is_by_process
from lexigraft.core.plain_files import asides_of
from lexigraft.core.processes import is_alive
from lexigraft.core.sealed_json import read_sealed, write_sealed
from lexigraft.index.metadata import documents_in_order
from lexigraft.index.store import open_index
from lexigraft.stages.layout import RunFolder
from lexigraft.stages.origin import Origin, noted_origin, origin_of, refuse, same_content
from lexigraft.stages.user_judgements import UserJudgements

SHOWN_FILES = 3


def write_origin(run: RunFolder, source: str) -> None:
    """Note of which collection a run is."""
    write_sealed(run.origin, origin_of(source, run.root).note)


def is_of_another(run: RunFolder, source: str, description: Mapping[str, Any]) -> bool:
    """Whether the folder holds the run of another collection. Raises where it holds what is no run at all."""
    if not is_begun(run):
        _require_empty(run)
        return False
    origin = read_origin(run)
    if origin is not None and origin.is_at(run.root, source):
        return False
    collected = read_manifest(run.collection)
    return collected is None or not same_content(collected.config, description)


def refusal(run: RunFolder) -> ArtifactError:
    """What the folder holds, as an error."""
    return refuse(run.root, "run", read_origin(run), list(_facts(run)))


def is_begun(run: RunFolder) -> bool:
    """Whether anything in the folder is of a run."""
    if run.origin.is_file() or is_artifact(run.collection):
        return True
    try:
        return {"views", "systems"} <= read_sealed(run.contents).keys()
    except ArtifactError:
        return any(is_artifact(file.parent) for folder in run.parts() for file in folder.rglob(MANIFEST))


def _require_empty(run: RunFolder) -> None:
    """Somebody's folder is neither filled nor emptied."""
    if run.root.exists() and not run.root.is_dir():
        raise ArtifactError(f"{run.root} is a file; give the folder of a run, or a new one")
    nobodys = (LOCK, *OF_THE_SYSTEM)
    names = sorted(path.name for path in run.root.iterdir() if path.name not in nobodys) if run.root.is_dir() else []
    if names:
        shown = ", ".join(names[:SHOWN_FILES]) + (", ..." if len(names) > SHOWN_FILES else "")
        raise ArtifactError(f"{run.root} is no run and has files of its own ({shown}); give another out=PATH")


def read_origin(run: RunFolder) -> Origin | None:
    """Of which collection a run is; one from before this was noted says it in its settings when it has ended."""
    for file in (run.origin, run.settings):
        try:
            found = read_sealed(file)
        except ArtifactError:  # a damaged one is written again, and says nothing until then
            continue
        if (origin := noted_origin(found)) is not None:
            return origin
        if "source" in found:
            return origin_of(str(found["source"]), run.root)
    return None


def _facts(run: RunFolder) -> Iterator[str]:
    """What a person may want to keep: documents, systems, a model."""
    systems = []
    with suppress(ArtifactError):  # what is damaged is not known, and need not be: something else is said
        systems = run.read_contents().systems
    if (n_documents := _n_documents(run)) is not None:
        yield f"{n_documents:,} documents"
    if systems:
        yield f"systems: {', '.join(systems)}"
    trained = any(is_artifact(home / part) for home in run.homes() for part in ("finetuned", "pretrained"))
    yield "with a trained model" if trained else "no model trained"


def _n_documents(run: RunFolder) -> int | None:
    """Of passages, the documents that they are of; None where no index is ready, or it is damaged."""
    with suppress(OSError, ValueError):
        index = open_index(run.searchable_index(next(iter(run.ready()))), checksums=False)
        return len(documents_in_order(index))
    return None


def require_emptiable(run: RunFolder) -> None:
    """Raise where a file that is not Lexigraft's lies where emptying the run would have to remove it."""
    for folder in _artifacts(run):
        if stray := foreign_files(folder):
            raise ArtifactError(f"{folder / stray[0]} is not Lexigraft's; move it out of the run before it is replaced")


def sweep(run: RunFolder) -> None:
    """Remove what killed writers left: files beside those that a run writes, of which each is written under its lock,
    as the caller must hold it, and drafts of artifacts, which others may be making, by processes that are gone."""
    for aside in (aside for file in run.own_files() for aside in asides_of(file)):
        aside.unlink(missing_ok=True)
    for draft in _drafts(run):
        if not is_alive(int(draft.name.rpartition("-")[2])):
            rmtree(draft, ignore_errors=True)


def empty(run: RunFolder) -> None:
    """Remove what a run has written, and nothing else: its artifacts, half-done ones too, and its own files."""
    for folder in [*_artifacts(run), *_half_done(run)]:
        rmtree(folder, ignore_errors=True)
    for file in (*run.own_files(), *UserJudgements(run.root).files):
        file.unlink(missing_ok=True)
    for top in run.parts():
        for folder in sorted(filter(Path.is_dir, [top, *top.rglob("*")]), reverse=True):  # the inner ones first
            if not any(folder.iterdir()):
                folder.rmdir()


def _artifacts(run: RunFolder) -> list[Path]:
    found = (file.parent for folder in run.parts() for file in folder.rglob(MANIFEST))
    return [folder for folder in found if read_manifest(folder) is not None]


def _half_done(run: RunFolder) -> list[Path]:
    """Folders of writers that were stopped: drafts of artifacts by their mark, those of continued files by what they
    have, which is nothing else."""
    begun = [file.parent for folder in run.parts() for file in folder.rglob(PART)]
    of_files = [folder for folder in begun if {file.name for file in folder.iterdir()} <= {PART, STATE, LOCK}]
    return [*_drafts(run), *of_files]


def _drafts(run: RunFolder) -> list[Path]:
    """Folders of artifacts that are not whole yet, or never will be, by their mark; and former versions, which have a
    draft's name and a manifest from when they were replaced until they are removed."""
    found = [file.parent for folder in run.parts() for mark in (DRAFT_MARK, MANIFEST) for file in folder.rglob(mark)]
    return [folder for folder in dict.fromkeys(found) if ".draft-" in folder.name and is_by_process(folder)]
