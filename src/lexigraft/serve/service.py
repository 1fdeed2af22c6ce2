"""What every endpoint shares: the open systems, the threads that answer, the limits, and whether it is ready."""

from dataclasses import dataclass, field
from pathlib import Path

from lexigraft.serve.access import Access
from lexigraft.serve.catalogue import Catalogue, Shelf
from lexigraft.serve.limits import Limits
from lexigraft.serve.metrics import Metrics
from lexigraft.serve.page_files import PAGE, PageFiles
from lexigraft.serve.refused import AGAIN, RefusedError
from lexigraft.serve.requests import QUERY
from lexigraft.serve.wackiness import GivenWackiness
from lexigraft.serve.work import Work

OPENING, READY, STOPPING = "opening", "ready", "stopping"
OPENING_SAID = "the systems are being opened; ask again in a second"  # by which the page knows it for no trouble


@dataclass
class Service:
    """A server's state. `shelf` is None until everything is open."""

    access: Access
    limits: Limits = field(default_factory=Limits)
    embed_as: str = QUERY  # what /embed_sparse takes texts for where nobody says
    may_judge: bool = False  # whether what the user judges is written into the run
    page: Path = PAGE
    shelf: Shelf | None = None
    wackiness: GivenWackiness = field(default_factory=GivenWackiness)
    status: str = OPENING

    def __post_init__(self) -> None:
        self.work, self.metrics, self.files = Work(self.limits), Metrics(), PageFiles(self.page)

    def begin(self, shelf: Shelf) -> None:
        """From here on requests are answered; none are where it was told to stop meanwhile."""
        self.shelf = shelf
        if self.status == OPENING:
            self.status = READY
            shelf.watch()

    def stop(self) -> None:
        """Say that no more requests are wanted; those that have begun are answered."""
        self.status = STOPPING

    def close(self) -> None:
        if self.shelf is not None:
            self.shelf.close()
        self.work.close()

    def catalogue(self) -> Catalogue:
        """What is served now; who has it keeps it to the end of a request."""
        if self.shelf is None:
            raise RefusedError(503, OPENING_SAID, AGAIN)
        return self.shelf.current
