"""All systems that are served, opened; and anew where something on disk was replaced."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

from lexigraft.core.compiled import load_kernels
from lexigraft.core.errors import LexigraftError, MissingExtraError
from lexigraft.serve.offered import TERMS, Offer, Source, named_sources, offers_of
from lexigraft.serve.peer_system import PeerSystem
from lexigraft.serve.refused import RefusedError
from lexigraft.serve.stamps import Stamp, stamp_of, stamp_of_list
from lexigraft.serve.term_system import TermSystem, warm
from lexigraft.serve.without_torch import without_form

SECONDS_BETWEEN_LOOKS = 0.5

System = TermSystem | PeerSystem

log = logging.getLogger(__name__)


class Opened(NamedTuple):
    """A system, and what stood on disk before it was opened."""

    system: System
    stamp: Stamp


class Catalogue(NamedTuple):
    """What is served at one moment. It never changes: who has begun with it ends with it."""

    opened: Mapping[str, Opened]
    sources: Sequence[Source]
    lists: Mapping[Path, Stamp]

    @property
    def names(self) -> list[str]:
        return list(self.opened)

    @property
    def usual(self) -> str:
        """The system that is meant where a request names none."""
        return next((name for name, one in self.opened.items() if one.system.offer.recommended), self.names[0])

    def system(self, name: str | None) -> System:
        return self.opened[name or self.usual].system

    def of_terms(self, name: str | None) -> TermSystem:
        """The same, which must have terms."""
        found = self.system(name)
        if isinstance(found, PeerSystem):
            raise RefusedError(422, f"{found.offer.name} is a {found.offer.kind} system, which has no terms")
        return found


class Shelf:
    """Keeps the newest catalogue. A look at the files is taken in a thread of its own, every half second; what was
    replaced is opened and warmed there, and takes its place in one step."""

    def __init__(self, paths: Sequence[Path], threads: int) -> None:
        self._threads, self._sources = threads, named_sources(paths)
        self._stop = Event()
        self._said: set[str] = set()
        self.n_refreshed = 0
        self.current = self._read(None)
        self._thread = Thread(target=self._watch, name="lexigraft-watch", daemon=True)

    def watch(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        self._stop.set()

    def _watch(self) -> None:
        self._load_kernels()
        while not self._stop.wait(SECONDS_BETWEEN_LOOKS):
            self.refresh()

    def _load_kernels(self) -> None:
        """Compiled code takes most of a second to load. First questions are answered without it, so that a server is
        ready sooner."""
        load_kernels()
        for one in self.current.opened.values():
            if isinstance(one.system, TermSystem):
                warm(one.system.state)

    def refresh(self) -> None:
        """Look once. What cannot be opened now stays as it is, and is tried again at the next look."""
        try:
            newer = self._read(self.current)
        except (LexigraftError, OSError) as error:
            self._say(error)
            return
        if newer is not self.current:
            self.current = newer

    def _read(self, former: Catalogue | None) -> Catalogue:
        """The catalogue as the files are now; the same object where nothing was replaced."""
        before = {} if former is None else former.opened
        lists = {source.path: stamp_of_list(source) for source in self._sources}
        same_lists = former is not None and lists == former.lists
        offers = (
            [one.system.offer for one in before.values()]
            if same_lists
            else [offer for source in self._sources for offer in offers_of(source, len(self._sources) == 1)]
        )
        opened = {offer.name: self._open(offer, before.get(offer.name)) for offer in offers}
        if former is not None and same_lists and all(opened[name] is before[name] for name in before):
            return former
        return Catalogue(opened, self._sources, lists)

    def _open(self, offer: Offer, former: Opened | None) -> Opened:
        stamp = stamp_of(offer)
        if former is not None and former.stamp == stamp and former.system.offer == offer:
            return former
        try:
            system = _opened(offer, self._threads)
        except (LexigraftError, OSError) as error:
            if former is None:
                raise
            self._say(error)
            return former
        self.n_refreshed += former is not None
        return Opened(system, stamp)

    def _say(self, error: Exception) -> None:
        """A writer may be at work for long: everything is said once."""
        if str(error) not in self._said:
            self._said.add(str(error))
            log.warning("a newer version cannot be opened yet, the former one is served: %s", error)


def _opened(offer: Offer, threads: int) -> System:
    try:
        return TermSystem(offer, threads) if offer.kind == TERMS else PeerSystem(offer, threads)
    except MissingExtraError as error:
        raise without_form(error, offer.system or offer.name) from error
