"""A dense system or a hybrid of a run, opened to be asked."""

from dataclasses import replace
from functools import partial

from lexigraft.core.cut import DocumentCut, QueryCut
from lexigraft.core.types import WholeScore
from lexigraft.retrieve.answer import Answer
from lexigraft.retrieve.finding import Asked
from lexigraft.retrieve.lanes import Lanes
from lexigraft.retrieve.notices import Notices
from lexigraft.retrieve.opened_peer import OpenedPeer
from lexigraft.retrieve.place import Place, find_place
from lexigraft.search.overlap import TERMS as OF_TERMS
from lexigraft.serve.offered import Offer


class PeerSystem:
    """It has no terms, and so no prunings. One thread at a time has each of its copies, whose vectors are mapped and so
    are in memory once."""

    qk: QueryCut = 0
    dk: DocumentCut = 0

    def __init__(self, offer: Offer, threads: int) -> None:
        self.offer = offer
        place = find_place(offer.source.path, offer.system)
        self.why, self.notices = place.why, Notices(place, None)
        # No method opens them, so that nothing keeps a system, and its files, that was replaced.
        self._peers: Lanes[OpenedPeer] = Lanes(partial(_open, replace(place, name=offer.name)), threads)
        self._peers.open_all()
        with self._peers.one() as peer:
            self.n_documents, self.keeps_texts = peer.opened.n_documents, peer.keeps_texts

    def answer(self, query: str, k: int) -> Answer:
        with self._peers.one() as peer:
            return peer.answer(query, Asked(k, (), 0.0, 0, OF_TERMS))

    def take_apart(self, query: str, doc_id: str) -> tuple[WholeScore, str]:
        """What makes the score of a document, and its title."""
        with self._peers.one() as peer:
            return peer.take_apart(query, doc_id), peer.place_of(doc_id)[0]


def _open(place: Place) -> OpenedPeer:
    peer = OpenedPeer(place)
    peer.answer("a question", Asked(1, (), 0.0, 0, OF_TERMS))  # loads its encoder
    return peer
