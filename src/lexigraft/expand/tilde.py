"""From TILDE's likeliest terms to an expansion (X1): what a document's highest logits name and it does not say itself.

Of the highest `top` those that are stop-words, pieces of words, special tokens or in the document already are dropped;
the first `keep` of the rest are the expansion, the likeliest first.
"""

from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Chosen(NamedTuple):
    """Row by row: words[indptr[i]:indptr[i + 1]], the likeliest first; `n_new` counts them before the cut."""

    indptr: NDArray[np.int64]
    words: NDArray[np.int64]
    n_new: NDArray[np.int64]


def choose_words(
    words: NDArray[np.int64], own_indptr: NDArray[np.int64], own_words: NDArray[np.int64], keep: int, n_words: int
) -> Chosen:
    """What to add to each document. `words` [documents, top]: the words that its highest logits name, less than 0 where
    they name none; own_words[own_indptr[i]:own_indptr[i + 1]], ascending: those it holds; `keep` 0: all."""
    stride = n_words + 1  # a place of its own for what is no word
    keys = words + np.arange(len(words))[:, None] * stride
    held = own_words + np.repeat(np.arange(len(words)), np.diff(own_indptr)) * stride
    new = (words >= 0) & ~np.isin(keys, held) & _first_times(keys)
    n_new = new.sum(axis=1)
    if keep:
        new &= np.cumsum(new, axis=1) <= keep
    indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(new.sum(axis=1))))
    return Chosen(indptr, words[new], n_new)


def _first_times(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where a value is met for the first time: two subwords may be one word, written in two ways."""
    first = np.zeros(keys.size, np.bool_)
    first[np.unique(keys, return_index=True)[1]] = True
    return first.reshape(keys.shape)


@dataclass
class ExpansionCounts:
    """What became of the documents. Means are the study's Table 3: "# Tilde tokens" and "# Kept tokens"."""

    documents: int = 0
    unexpanded: int = 0
    n_new: int = 0
    n_kept: int = 0

    def add(self, chosen: Chosen) -> None:
        kept = np.diff(chosen.indptr)
        self.documents += len(kept)
        self.unexpanded += int((kept == 0).sum())
        self.n_new += int(chosen.n_new.sum())
        self.n_kept += len(chosen.words)

    def facts(self) -> dict[str, float]:
        """Counts, and the mean numbers of new words a document and of those kept."""
        of = max(1, self.documents)
        counts = {name: value for name, value in asdict(self).items() if not name.startswith("n_")}
        return {**counts, "new_words": self.n_new / of, "kept_words": self.n_kept / of}
