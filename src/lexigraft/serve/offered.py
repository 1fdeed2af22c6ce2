"""Which systems a server offers, by the names that clients know them by."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.engines.address import Address
from lexigraft.retrieve.opened_engine import local_index_of
from lexigraft.retrieve.place import find_place
from lexigraft.stages.layout import RunFolder, lies_at

TERMS = "terms"  # what is no dense system and no hybrid


class Source(NamedTuple):
    """Something that was given to be served, and what clients call it. Of an engine, `path` is the index that was
    loaded into it, which encodes its queries."""

    path: Path
    name: str
    engine: Address | None = None

    @property
    def run(self) -> RunFolder | None:
        """The run that it is; None for an index or a saved retriever."""
        folder = RunFolder(self.path)
        return folder if lies_at(folder.contents) else None


class Offer(NamedTuple):
    """A system of a source."""

    name: str  # which no other system has
    source: Source
    system: str | None  # of a run, its name there
    kind: str = TERMS
    recommended: bool = False


def named_sources(given: Sequence[Path | Address]) -> list[Source]:
    """The sources by the names of their folders, or of an engine's collections; where two have the same, the second
    gets a number."""
    if not given:
        raise SettingError("nothing is given to be served; give the folder of a run, an index or a live index")
    found: list[Source] = []
    for one in given:
        path, engine = (local_index_of(one), one) if isinstance(one, Address) else (one, None)
        name = path.resolve().name if engine is None else engine.name
        shown = "".join(char if char.isprintable() else "_" for char in name) or "run"
        same = sum(other.name.partition("~")[0] == shown for other in found)
        found.append(Source(path, shown if not same else f"{shown}~{same + 1}", engine))
    return found


def offers_of(source: Source, alone: bool) -> list[Offer]:
    """The systems of a source that can be searched; with others beside it, their names tell whose they are."""
    run = source.run
    if run is None or source.engine is not None:
        if source.engine is None:
            find_place(source.path)  # says what is wrong with it
        return [Offer(source.name, source, None, recommended=True)]
    ready, kinds = run.ready(), run.read_contents().kinds
    taken = recommended_of(run)
    return [
        Offer(name if alone else f"{source.name}/{name}", source, name, kinds.get(name, TERMS), name == taken)
        for name in ready
    ]


def recommended_of(run: RunFolder) -> str:
    """The system that a search takes; of a run that cannot say, the first one."""
    try:
        return run.searchable(None)[1]
    except ArtifactError:
        return next(iter(run.ready()))
