"""How many of the documents that training sees have a term, for DF-FLOPS (F2)."""

import torch
from torch import Tensor

REFRESH_EVERY = 100  # steps


class DocumentFrequency:
    """The share of documents that have each term, refreshed every 100 steps from the documents seen in them.

    The first step has only its own documents to go by, and what they say holds until the first refresh.
    """

    def __init__(self, n_terms: int, device: torch.device) -> None:
        self.shares = torch.zeros(n_terms, device=device)
        self._counts = torch.zeros(n_terms, device=device)
        self._n_seen = torch.zeros((), device=device)

    def state(self) -> dict[str, Tensor]:
        """All it knows; the tensors may be filled in again in place."""
        return {"df_shares": self.shares, "df_counts": self._counts, "df_seen": self._n_seen}

    @torch.no_grad()
    def see(self, documents: Tensor, step: int) -> Tensor:
        """Count the documents [documents, terms] of a step; returns the shares [terms] that hold for it."""
        if step and step % REFRESH_EVERY == 0:
            self.shares.copy_(self._counts / self._n_seen.clamp_min(1))
            self._counts.zero_()
            self._n_seen.zero_()
        self._counts += (documents > 0).sum(0)
        self._n_seen += len(documents)
        if step == 0:
            self.shares.copy_(self._counts / self._n_seen)
        return self.shares
