"""What tells that something on disk was replaced: which files stand there, as the file system knows them.

A writer replaces artifacts whole, so that their manifests are other files afterwards; the state of a live index is one
file that is replaced. A look costs some microseconds a file.
"""

from collections.abc import Iterator
from pathlib import Path

from lexigraft.core.manifest import MANIFEST
from lexigraft.core.pinned import where_it_stands
from lexigraft.index.live.state import STATE_FILE
from lexigraft.retrieve.saved import FACTS, INDEX, METADATA, MODEL, TEXTS
from lexigraft.serve.offered import TERMS, Offer, Source
from lexigraft.stages.layout import RunFolder, metadata_beside

Stamp = tuple[tuple[str, tuple[int, ...]], ...]


def stamp_of(offer: Offer) -> Stamp:
    """Of all that a system is answered from."""
    run = offer.source.run
    return _looked_at(_of_folder(offer.source.path) if run is None else _of_system(run, offer))


def stamp_of_list(source: Source) -> Stamp:
    """Of what says which systems there are, and what is reported of them."""
    run = RunFolder(source.path)
    return _looked_at(iter((run.contents, run.report("json"))))


def _of_system(run: RunFolder, offer: Offer) -> Iterator[Path]:
    views = run.read_contents().views[:1]
    yield from (run.contents, run.operating_points, run.report("json"))
    for view in views:
        yield run.metadata(view) / MANIFEST
        yield run.texts(view) / MANIFEST
        owner = offer.system if offer.kind == TERMS else "*"  # a hybrid is made of others
        for part in ("index*", "vectors", "choice"):
            yield from sorted(run.root.glob(f"{view}/{owner}/{part}/{MANIFEST}"))
    for home in run.homes():
        yield from sorted(home.glob(f"*/{MANIFEST}"))


def _of_folder(path: Path) -> Iterator[Path]:
    """Of an index, plain or live, or of a saved retriever."""
    for folder in (where_it_stands(path), path / INDEX):
        yield from (folder / MANIFEST, folder / STATE_FILE)
    yield path / FACTS
    for folder in (metadata_beside(path), path / METADATA, path / TEXTS, path / MODEL):
        yield folder / MANIFEST


def _looked_at(files: Iterator[Path]) -> Stamp:
    found = []
    for file in files:
        try:
            said = file.stat()
        except OSError:
            continue  # the stamp differs from one that has it
        found.append((str(file), (said.st_dev, said.st_ino, said.st_size, said.st_mtime_ns)))
    return tuple(found)
