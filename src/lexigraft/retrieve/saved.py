"""A retriever as a folder of its own, which can be moved: its index, the model that encodes its queries, and how it is
searched.

FOLDER/retriever.json    which (qk) it is searched with, and why
FOLDER/index/            the index, plain or live
FOLDER/model/            the model that its queries are encoded with; absent where BM25 needs none
FOLDER/model.inference/  what encodes by it without torch, where it was made
FOLDER/index.metadata/   what filters read, where there is some; a live index has it in itself
FOLDER/index.texts/      what documents say, where a run kept it; an index may have it in itself
"""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import (
    OF_THE_SYSTEM,
    Manifest,
    foreign_files,
    is_artifact,
    read_manifest,
    write_artifact,
)
from lexigraft.core.cut import QueryCut, query_cut
from lexigraft.core.errors import ArtifactError, MixedVersionsError
from lexigraft.core.exchange import exchange
from lexigraft.core.folders import make_folders
from lexigraft.core.known_checksums import reading_every_byte
from lexigraft.core.pinned import known_as, of_one_version
from lexigraft.core.sealed_json import read_sealed, write_sealed
from lexigraft.index import store as index_store
from lexigraft.index.live.copying import copy_live
from lexigraft.index.live.reader import open_live
from lexigraft.index.live.state import is_live, read_state, write_state
from lexigraft.index.store import open_index, write_meta
from lexigraft.inference.folder import form_beside, has_form

FACTS, INDEX, MODEL, METADATA, TEXTS = "retriever.json", "index", "model", "index.metadata", "index.texts"
PARTS = (INDEX, MODEL, form_beside(Path(MODEL)).name, METADATA, TEXTS)


@dataclass(frozen=True)
class Saved:
    """What a saved retriever is opened with."""

    index: Path
    metadata: Path
    texts: Path
    qk: QueryCut
    why: str


def is_saved(path: Path) -> bool:
    """Whether `path` holds a saved retriever."""
    return (path / FACTS).is_file()


def read_saved(path: Path) -> Saved:
    """The saved retriever at `path`; raises `ArtifactError` where its facts cannot be read."""
    try:
        facts = read_sealed(path / FACTS)
        return Saved(path / INDEX, path / METADATA, path / TEXTS, query_cut(facts["qk"]), str(facts["why"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArtifactError(f"{path / FACTS} is damaged ({error}); save the retriever again") from error


def save(
    index: Path,
    metadata: Path,
    texts: Path | None,
    qk: QueryCut,
    why: str,
    out: Path,
    replace_other: bool = False,
) -> None:
    """Copy an index, plain or live, with its model, metadata and texts to the folder `out`, whole or not at all. It
    must be new or, with `replace_other`, hold a saved retriever and nothing of the user's."""
    _require_free(out, replace_other, index)
    with _appearing_whole(out) as folder:
        target = folder / INDEX
        description = _encoder_of(index)
        if "model" in description:
            _copy_model((index / description["model"]).resolve(), folder / MODEL)
            _require_model_of(index, description, read_manifest(folder / MODEL))
            description["model"] = f"../{MODEL}"
        if is_live(index):
            _copy_live(index, target, description)
        else:
            _copy_index(index, target, description)
        if metadata.is_dir() and not is_live(index):
            _copy_artifact(metadata, folder / METADATA)
        if texts is not None and texts.is_dir():
            _copy_artifact(texts, folder / TEXTS)
        write_sealed(folder / FACTS, {"qk": qk, "why": why})


def _copy_model(model: Path, target: Path) -> None:
    """A model, and what encodes by it without torch where that was made of this very one."""
    _copy_artifact(model, target)
    if has_form(model):
        _copy_artifact(form_beside(model), form_beside(target))
        if not has_form(target):  # the model was replaced between both
            shutil.rmtree(form_beside(target))


def _require_model_of(index: Path, description: Mapping[str, Any], model: Manifest | None) -> None:
    """Raise unless `model` wrote the documents of `index`, where it is noted which one did: a writer may have replaced
    either since the other one was read, and what is saved is to be searched."""
    wanted = description.get("fingerprint", "")
    if wanted and (model is None or model.fingerprint != wanted):
        raise MixedVersionsError(
            f"{known_as(index)} was not made by the model that is there now; make the index again, or save it again "
            "when that was done"
        )


@of_one_version
def _copy_artifact(path: Path, target: Path) -> None:
    """Every file of one version: a writer may replace the artifact meanwhile."""
    shutil.rmtree(target, ignore_errors=True)  # of a version that was removed while it was copied
    shutil.copytree(path, target)


def _encoder_of(index: Path) -> dict[str, Any]:
    if is_live(index):
        return dict(read_state(index).query_encoder)
    return dict(open_index(index, checksums=False).meta.query_encoder)


def _copy_live(index: Path, target: Path, query_encoder: dict[str, Any]) -> None:
    """One state of a live index, whose way to its model is another."""
    state = copy_live(index, target)
    _require_same_encoder(index, state.query_encoder, query_encoder)
    write_state(target, replace(state, query_encoder=query_encoder))


def _require_same_encoder(index: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise where an index that was copied is of another encoder than the one whose model was; the way to that may be
    another."""
    if {**found, "model": ""} != {**wanted, "model": ""}:
        raise MixedVersionsError(f"{known_as(index)} was replaced while it was saved; save it again")


@of_one_version
def _copy_index(index: Path, target: Path, query_encoder: dict[str, Any]) -> None:
    """An index whose way to its model is another; every byte of it is checked first."""
    with reading_every_byte():
        opened, manifest = open_index(index), read_manifest(index)
    assert manifest is not None, "just opened"
    _require_same_encoder(index, opened.meta.query_encoder, query_encoder)
    wanted = Manifest(index_store.KIND, manifest.format_version, manifest.config, manifest.parents)
    with write_artifact(target, wanted) as folder:
        for name in manifest.files:
            make_folders((folder / name).parent)
            shutil.copyfile(index / name, folder / name)
        write_meta(folder, replace(opened.meta, query_encoder=query_encoder))


def _require_free(out: Path, replace_other: bool, index: Path) -> None:
    if not out.exists():
        return
    if not is_saved(out):
        raise ArtifactError(f"{out} is there already, and is no saved retriever; give another folder")
    if not replace_other:
        raise ArtifactError(
            f"{out} is there already: a saved retriever ({_n_documents(out)}); give another folder, or replace=True"
        )
    if index.resolve().is_relative_to(out.resolve()):
        raise ArtifactError(f"{out} is the retriever that is to be saved; give another folder")
    names = {path.name for path in out.iterdir()} - {FACTS, *PARTS, *OF_THE_SYSTEM}
    parts = [folder for name in PARTS if is_artifact(folder := out / name)]
    strays = [*sorted(names), *(f"{folder.name}/{name}" for folder in parts for name in foreign_files(folder))]
    if strays:
        raise ArtifactError(f"{out / strays[0]} is not Lexigraft's and would be lost; move it out of {out}")


def _n_documents(out: Path) -> str:
    index = out / INDEX
    try:
        opened = open_live(index) if is_live(index) else open_index(index, checksums=False)
    except ArtifactError:
        return "damaged"
    return f"{opened.n_documents:,} documents"


@contextmanager
def _appearing_whole(out: Path) -> Iterator[Path]:
    """A folder to write into that takes the place of `out` at the end."""
    make_folders(out.parent)
    aside, former = out.with_name(f".{out.name}.saving"), out.with_name(f".{out.name}.former")
    shutil.rmtree(aside, ignore_errors=True)  # of a process that was killed
    aside.mkdir()
    try:
        yield aside
        if not out.exists():
            aside.rename(out)
        elif not exchange(aside, out):  # what was there has the name `aside` afterwards
            out.rename(former)
            aside.rename(out)
    finally:
        if former.exists() and not out.exists():  # what was there goes back
            former.rename(out)
        shutil.rmtree(aside, ignore_errors=True)
        shutil.rmtree(former, ignore_errors=True)
