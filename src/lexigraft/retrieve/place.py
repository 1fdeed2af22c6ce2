"""Finds what a path names: a run, an index, a live index or a saved retriever, and where everything that belongs to it
lies."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lexigraft.core.artifact import read_manifest
from lexigraft.core.cut import DocumentCut, QueryCut, document_cut, query_cut
from lexigraft.core.errors import ArtifactError, MixedVersionsError, SettingError
from lexigraft.core.pinned import where_it_stands
from lexigraft.core.systems_table import DENSE
from lexigraft.index import store as index_store
from lexigraft.index.live.state import is_live
from lexigraft.retrieve.saved import is_saved, read_saved
from lexigraft.stages.layout import RunFolder, lies_at, metadata_beside
from lexigraft.stages.operating_point import read_operating_point

EXPECTED = "a run (lexigraft run --out), an index (lexigraft index --out) or a live index (lexigraft index live --out)"
SHOWN_FILES = 3  # of a folder that is none of these

_AT_A_POINT = re.compile(r"(\S+) *\( *(m?\d*\.?\d+) *, *(m?\d*\.?\d+) *\)")  # as tables name a system: esplade (10,40)


@dataclass(frozen=True)
class Place:
    """Where an index and what belongs to it lies. `index` is searched with what `qk` keeps of a query (0: all),
    `why` says why; `whole` is the index of the documents' whole vectors, and the same where nothing was pruned."""

    name: str
    index: Path
    whole: Path
    metadata: Path
    vectors: Path | None = None
    run: RunFolder | None = None
    view: str = ""
    qk: QueryCut = 0
    dk: DocumentCut = 0
    why: str = ""
    texts: Path | None = None  # those that all indexes of a run share; an index may have its own
    system: str = ""  # of a run
    kind: str = ""  # dense or hybrid, of a system of a run that searches no terms

    @property
    def option(self) -> str:
        """What names it to a command."""
        return f"--index {self.index}" if self.run is None else f"--run {self.run.root}"


def find_place(
    path: Path,
    system: str | None = None,
    qk: QueryCut | None = None,
    dk: DocumentCut | None = None,
    vectors: Path | None = None,
) -> Place:
    """What lies at `path`. Of a run, `system` names which one, alone or as tables do, "esplade (10,40)"; (qk, dk) are
    those of its operating point where they are not given, and an index of dk terms is made where there is none. An
    index has one system and one dk, and may be given the `vectors` it was made of."""
    if system is not None and (named := _AT_A_POINT.fullmatch(system)):
        if qk is not None or dk is not None:
            raise SettingError(f"{system!r} says which (qk, dk) already; leave out qk and dk")
        system, qk, dk = named[1], named[2], named[3]
    qk = None if qk is None else query_cut(qk)
    dk = None if dk is None else document_cut(dk)
    if _is_run(path):
        if vectors is not None:
            raise SettingError("vectors are given for an index; a run keeps its own")
        return _place_in_run(RunFolder(path), system, qk, dk)
    manifest = read_manifest(where_it_stands(path))
    saved = is_saved(path)
    if not saved and not is_live(path) and (manifest is None or manifest.kind != index_store.KIND):
        raise ArtifactError(_what_it_is_instead(path))
    if system is not None:
        raise SettingError("a system is one of those of a run; an index has only one: leave system out")
    if dk:
        raise SettingError("dk chooses among the indexes of a run, and this is an index; leave dk out")
    if saved:
        opened = read_saved(path)
        place = Place(
            str(path),
            opened.index,
            opened.index,
            opened.metadata,
            vectors,
            None,
            "",
            opened.qk,
            0,
            opened.why,
            opened.texts,
        )
    else:
        place = Place(str(path), path, path, metadata_beside(path), vectors)
    return place if qk is None else replace(place, qk=qk, why=_asked(qk, 0))


def how_to_keep_texts(place: Place) -> str:
    """For a person who asks for texts of an index that keeps none."""
    if place.run is not None:
        remedy = "continue the run with its command and --texts yes"
    elif is_live(place.index):
        remedy = f"add the documents again: lexigraft index add {place.index} --data DIR --replace --texts yes"
    else:
        made = read_manifest(place.index)
        given = "--vectors VECTORS --data DIR" if made is not None and "vectors" in made.parents else "--data DIR"
        remedy = f"build it again: lexigraft index {given} --texts yes --out {place.index}"
    return f"{place.name} keeps no texts; {remedy}"


def _asked(qk: QueryCut, dk: DocumentCut) -> str:
    return f"(qk, dk) = ({qk}, {dk}), as asked for; 0 keeps all terms"


def _is_run(path: Path) -> bool:
    """Whether `path` holds a run, or names the run that somebody believes to be there."""
    return lies_at(RunFolder(path).contents)


def _place_in_run(run: RunFolder, system: str | None, qk: QueryCut | None, dk: DocumentCut | None) -> Place:
    view, name = run.searchable(system)
    if kind := run.read_contents().kinds.get(name):
        return _place_of_peer(run, view, name, kind, qk is not None or dk is not None)
    point = read_operating_point(run, name)
    asked = qk is not None or dk is not None
    chosen = (point.qk if qk is None else qk, point.dk if dk is None else dk)
    why = _asked(*chosen) if asked else point.why
    pruned = run.index(view, name, chosen[1])
    if not where_it_stands(pruned).is_dir():
        from lexigraft.retrieve.pruned_index import ensure_pruned_index  # what makes indexes is not for every search

        ensure_pruned_index(run, view, name, chosen[1])
    return Place(
        f"{name} of {run.root}", pruned, run.index(view, name, 0), run.metadata(view), run.vectors(view, name), run,
        view, *chosen, why, run.texts(view), name,
    )  # fmt: skip


def _place_of_peer(run: RunFolder, view: str, name: str, kind: str, cut: bool) -> Place:
    """Of a system without terms: its vectors, which it searches, or how it is fused."""
    if cut:
        raise SettingError(f"{name} is a {kind} system: it has no terms to keep; leave out (qk, dk)")
    path = run.vectors(view, name) if kind == DENSE else run.choice(name)
    return Place(
        f"{name} of {run.root}", path, path, run.metadata(view), None, run, view, texts=run.texts(view), system=name,
        kind=kind,
    )  # fmt: skip


def _what_it_is_instead(path: Path) -> str:
    """What lies at a path that is nothing to search, and what was expected."""
    if not path.exists():
        remedy = f"make one with: lexigraft quickstart, or: lexigraft run --data DIR --out {path}"
        return f"there is no run at {path}, nor an index; {remedy}"
    if path.is_file():
        return f"{path} is a file; give the folder of {EXPECTED}"
    manifest = read_manifest(path)
    if manifest is not None and manifest.kind == "vectors":
        return f"{path} holds vectors, which are searched by an index: lexigraft index --vectors {path} --out INDEX"
    if manifest is not None:
        return f"{path} holds a {manifest.kind}; give the folder of {EXPECTED}"
    files = sorted(item.name for item in path.iterdir() if not item.name.startswith("."))
    if any(name.startswith("corpus.jsonl") for name in files):
        return f"{path} is a collection, which is searched by a run: lexigraft run --data {path} --out RUN"
    shown = ", ".join(files[:SHOWN_FILES]) + (", ..." if len(files) > SHOWN_FILES else "")
    if RunFolder(path).collection.is_dir():
        return f"the run at {path} has no index yet; continue it with the command that began it"
    return f"{path} holds {shown or 'nothing'}; give the folder of {EXPECTED}"


def require_made_of(parents: Mapping[str, str], fingerprint: str, index: Path, vectors: Path) -> None:
    """Raise where the index at `index`, by its `parents`, was made of other vectors than those at `vectors`, which have
    this fingerprint. One that was indexed from text does not say; then the documents' ids are compared while they are
    ranked."""
    if parents.get("vectors", fingerprint) != fingerprint:
        raise MixedVersionsError(
            f"{index} was not made of the vectors at {vectors}, or they were made again since; give those that it was "
            "made of, or index these"
        )
