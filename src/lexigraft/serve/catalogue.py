"""All systems that are served, opened; and anew where something on disk was replaced."""

import logging
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from threading import Event, Thread, current_thread
from time import monotonic
from typing import NamedTuple

from lexigraft.core.compiled import load_kernels
from lexigraft.core.errors import LexigraftError, MissingExtraError
from lexigraft.engines.address import Address
from lexigraft.serve.engine_system import EngineSystem
from lexigraft.serve.kernels import compiled_aside
from lexigraft.serve.offered import TERMS, Offer, Source, named_sources, offers_of
from lexigraft.serve.peer_system import PeerSystem
from lexigraft.serve.reading_ahead import AT_A_LOOK
from lexigraft.serve.refused import RefusedError
from lexigraft.serve.stamps import Stamp, stamp_of, stamp_of_list
from lexigraft.serve.term_system import TermSystem, warm
from lexigraft.serve.without_torch import without_form

SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_TO_STOP = 1.0
SECONDS_BETWEEN_TRIES = 10.0  # to open what could not be opened and was not changed since

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

    def beside(self, system: System, name: str) -> TermSystem | None:
        """The system of terms that is called so in the run that a system is of; None where there is none."""
        source = system.offer.source
        of_run = (one.system for one in self.opened.values() if one.system.offer.source == source)
        return next((one for one in of_run if isinstance(one, TermSystem) and one.offer.system == name), None)

    def of_terms(self, name: str | None) -> TermSystem:
        """The same, which must have terms."""
        found = self.system(name)
        if isinstance(found, PeerSystem):
            raise RefusedError(422, f"{found.offer.name} is a {found.offer.kind} system, which has no terms")
        return found


class Shelf:
    """Keeps the newest catalogue. A look at the files is taken in a thread of its own, every half second; what was
    replaced is opened and warmed there, and takes its place in one step."""

    def __init__(self, given: Sequence[Path | Address], threads: int) -> None:
        self._threads, self._sources = threads, named_sources(given)
        self._stop = Event()
        self._said: set[str] = set()
        self._failed: dict[str, tuple[Stamp, float]] = {}  # what could not be opened, and when
        self.n_refreshed = 0
        self.current = self._read(None)
        self._thread = Thread(target=self._watch, name="lexigraft-watch", daemon=True)

    def watch(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """Stop looking; what compiles aside is ended, where the thread is not busy with a replaced index."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not current_thread():
            self._thread.join(SECONDS_TO_STOP)

    def _watch(self) -> None:
        try:
            self._load_kernels()
        except Exception as error:  # noqa: BLE001  # questions are answered without them, only slower
            self._say(error)
        while not self._stop.wait(SECONDS_BETWEEN_LOOKS):
            self.refresh()
            self._read_ahead()

    def _load_kernels(self) -> None:
        """Compiled code takes most of a second to load, and where it was never compiled most of a minute to compile.
        First questions are answered without it, so that a server is ready sooner."""
        for _ in compiled_aside(self._indexes()):
            if self._stop.wait(SECONDS_BETWEEN_LOOKS):
                return
            self.refresh()
        load_kernels()
        for one in self.current.opened.values():
            if isinstance(one.system, TermSystem):
                warm(one.system.state)

    def _indexes(self) -> list[Path]:
        """One for each kind of encoder, which decides what is compiled."""
        opened = (one.system.state for one in self.current.opened.values() if isinstance(one.system, TermSystem))
        return list({str(state.index.query_encoder.get("kind")): state.place.index for state in opened}.values())

    def _read_ahead(self) -> None:
        """A few documents of every system, until enough of them are known."""
        for one in self.current.opened.values():
            if isinstance(one.system, TermSystem):
                try:
                    deque(islice(one.system.unread, AT_A_LOOK), 0)
                except (LexigraftError, OSError) as error:  # whoever asks for this text is told, too
                    self._say(error)

    def refresh(self) -> None:
        """Look once. What cannot be opened now stays as it is, and is tried again at a later look."""
        try:
            self.current = self._read(self.current)
        except Exception as error:  # noqa: BLE001  # whatever it was: the next look is taken
            self._say(error)
            return
        if not self._failed:
            self._said.clear()

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
        names = {offer.name for offer in offers}
        self._failed = {name: one for name, one in self._failed.items() if name in names}
        tried = {offer.name: self._open(offer, before.get(offer.name), former is None) for offer in offers}
        opened = {name: one for name, one in tried.items() if one is not None}
        is_whole = len(opened) == len(tried)
        unchanged = opened.keys() == before.keys() and all(opened[name] is before[name] for name in before)
        if former is not None and (not opened or (unchanged and (same_lists or not is_whole))):
            return former
        # What is left out is looked for again, because the list still differs from the one that is remembered.
        return Catalogue(opened, self._sources, lists if former is None or is_whole else former.lists)

    def _open(self, offer: Offer, former: Opened | None, is_start: bool) -> Opened | None:
        """The system, opened where it was replaced. Where it cannot be: the former one, or none; at the start that is
        an error."""
        stamp = stamp_of(offer)
        if former is not None and former.stamp == stamp and former.system.offer == offer:
            self._failed.pop(offer.name, None)
            return former
        failed = self._failed.get(offer.name)
        if failed is not None and failed[0] == stamp and monotonic() < failed[1] + SECONDS_BETWEEN_TRIES:
            return former
        try:
            system = _opened(offer, self._threads, None if former is None else former.system)
        except Exception as error:
            if is_start:
                raise
            self._failed[offer.name] = stamp, monotonic()
            self._say(error)
            return former
        self._failed.pop(offer.name, None)
        self.n_refreshed += former is not None
        return Opened(system, stamp)

    def _say(self, error: Exception) -> None:
        """A writer may be at work for long: everything is said once."""
        said = f"{type(error).__name__}: {error}"
        if said not in self._said:
            self._said.add(said)
            is_known = isinstance(error, LexigraftError | OSError)
            log.warning(
                "a newer version cannot be opened yet, the former one is served: %s",
                error if is_known else said,
                exc_info=None if is_known else error,
            )


def _opened(offer: Offer, threads: int, former: System | None) -> System:
    try:
        if offer.kind != TERMS:
            return PeerSystem(offer, threads)
        kind = TermSystem if offer.source.engine is None else EngineSystem
        return kind(offer, threads, former if isinstance(former, TermSystem) else None)
    except MissingExtraError as error:
        raise without_form(error, offer.system or offer.name) from error
