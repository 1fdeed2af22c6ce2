"""What a retriever has open, and opens anew where a writer has replaced it."""

from collections.abc import Callable
from typing import TypeVar

from lexigraft.core.errors import InputError, MixedVersionsError, SettingError
from lexigraft.retrieve.notices import Notices
from lexigraft.retrieve.opened import Opened
from lexigraft.retrieve.opened_engine import OpenedEngine
from lexigraft.retrieve.opened_peer import OpenedPeer
from lexigraft.retrieve.place import Place

ATTEMPTS = 10  # to open an index and its encoder while both are replaced

T = TypeVar("T")


class Held:
    """An index of terms; or `other`, which is searched instead: a system without terms, or an engine, whose queries the
    index encodes."""

    def __init__(self, place: Place, method: str = "auto", engine: OpenedEngine | None = None) -> None:
        self.place, self._method = place, method
        self.other: OpenedPeer | OpenedEngine | None = OpenedPeer(place) if place.kind else engine
        self._opened: Opened | None = Opened(place, method) if self.other is None else self.other.local
        self.notices = Notices(place, self._opened)

    def open_again(self) -> None:
        """Take the newest state; who has begun with another ends with it."""
        if self.other is None:
            self.state()
            self._opened = Opened(self.place, self._method)
        else:
            self.other = self.other.again()
            self._opened = self.other.local
        self.notices = Notices(self.place, self._opened)

    def close(self) -> None:
        """Give back what is held; nothing can be asked afterwards."""
        if self.other is not None:
            self.other.close()
        self._opened = self.other = None

    def state(self) -> Opened:
        """The index of terms that is open."""
        opened = self._opened
        if opened is None and self.other is not None:
            raise InputError(
                f"{self.place.name} is a {self.place.kind} system, which has no terms to list and is not saved by "
                "itself; take a system of terms, such as bm25 or the run's model (system=NAME)"
            )
        self._require_open()
        assert opened is not None, "it is open, and no peer"
        return opened

    def _require_open(self) -> None:
        if self._opened is None and self.other is None:
            raise SettingError(f"the retriever of {self.place.name} was closed; open it again")

    def told_of(self, query: str) -> tuple[str, ...]:
        """What whoever asks this is to be told."""
        self._require_open()
        return self.notices.of(query)

    def require_here(self, what: str) -> None:
        """Raise unless what is searched is an index on this machine."""
        self.state()
        if self.other is not None:
            raise InputError(
                f"{self.place.name} is a collection of an engine, which is not {what} from here; change the local "
                "index and load it again, or delete documents with: lexigraft engine delete"
            )

    def ask(self, question: Callable[[Opened], T]) -> T:
        """What `question` finds in the state that is open. Its encoder and full vectors are opened when they are first
        needed: where a writer has replaced the index and these since, all are opened anew, and none are mixed."""
        for _ in range(ATTEMPTS):
            state = self.state()
            try:
                return question(state)
            except MixedVersionsError:
                if not state.is_outdated():
                    raise
                self.open_again()
        return question(self.state())

    def ask_other(self, question: Callable[[OpenedPeer | OpenedEngine], T]) -> T:
        """The same of a system without terms, or of an engine."""
        self._require_open()
        for _ in range(ATTEMPTS):
            other = self.other
            assert other is not None, "who asks has looked, and it is open"
            try:
                return question(other)
            except MixedVersionsError as error:
                mixed = error
                self.open_again()
        raise mixed

    def ask_peer(self, question: Callable[[OpenedPeer], T]) -> T:
        """The same of a dense system or a hybrid."""

        def ask(other: OpenedPeer | OpenedEngine) -> T:
            assert isinstance(other, OpenedPeer), "who asks has looked"
            return question(other)

        return self.ask_other(ask)
