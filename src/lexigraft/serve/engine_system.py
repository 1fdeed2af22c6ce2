"""A collection of an engine that scales, opened to be asked: a system of terms whose documents another server finds."""

from time import perf_counter

from lexigraft.core.cut import DocumentCut
from lexigraft.engines import opening
from lexigraft.engines.backoff import with_retries
from lexigraft.engines.engine import Engine
from lexigraft.retrieve.finding import Asked
from lexigraft.retrieve.loaded_place import place_behind, require_fits
from lexigraft.retrieve.opened import Opened, Row
from lexigraft.retrieve.opened_engine import description_of, documents_of, find_in
from lexigraft.retrieve.place import Place
from lexigraft.serve.offered import Offer
from lexigraft.serve.term_system import Documents, TermSystem


class EngineSystem(TermSystem):
    """The local index encodes and explains, as it does for itself; it has the one pruning that was loaded."""

    def __init__(self, offer: Offer, threads: int, former: TermSystem | None = None) -> None:
        assert offer.source.engine is not None, "who makes one has looked"
        self._address = offer.source.engine
        self._engine: Engine = (
            former._engine if isinstance(former, EngineSystem) else opening.open_engine(self._address)
        )
        self._description = description_of(self._engine, self._address)
        self._count = with_retries(self._engine.count)
        super().__init__(offer, threads, former)
        require_fits(self.state, self._description, str(self._address), is_given=False)

    def _find_place(self) -> Place:
        return place_behind(self._description, str(self._address), None, None, None)

    @property
    def n_documents(self) -> int:
        """As many as there were when it was opened."""
        return self._count

    def can_serve(self, dk: DocumentCut) -> bool:
        return dk == self.dk

    def search(self, state: Opened, query: str, searched: Row, asked: Asked) -> tuple[Documents, float]:
        hits = find_in(self._engine, self._description, searched, asked)
        moment = perf_counter()
        return documents_of(state, searched, hits), moment
