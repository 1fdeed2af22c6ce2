"""PISA (pisa-engine/pisa), through the compiled half of `pyterrier-pisa`.

The package itself imports PyTerrier and with it Java; its compiled module needs neither and is loaded by path. The
inverted index is written in PISA's own binary format, so that the impacts are exactly the given ones, and PISA
compresses it and computes its block maxima. Its scorer "quantized" adds up impacts times query weights.

What its call cannot do without, and what is therefore inside the clock: terms are looked up as strings, a weight is
given by repeating the term, and document ids come back as strings. `PisaOverhead` sends the same queries through the
same call to an index of one document, which measures the first two.
"""

import ctypes
import importlib.machinery
import importlib.util
import site
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

from bench.engines.interface import HOW_TO_INSTALL, Answer, Converted, Engine, Terms, Weights, made_once
from bench.engines.quiet import silenced
from lexigraft.core.errors import MissingExtraError

# Those that rank a disjunction with weights; ranked_or_taat_lazy ignores the weights in this binding.
ALGORITHMS = ("maxscore", "wand", "block_max_wand", "block_max_maxscore", "ranked_or", "ranked_or_taat")
ENCODING = (
    "block_simdbp"  # the binding's default, and the fastest for most of them; maxscore is tried with another, too
)
OTHER_ENCODING = "block_streamvbyte"
BLOCK_SIZE = 64


@cache
def compiled_module() -> ModuleType:
    """`pyterrier_pisa._pisathon` without its package; raises `MissingExtraError` where it is not installed."""
    package = next((path for at in site.getsitepackages() if (path := Path(at) / "pyterrier_pisa").exists()), None)
    if package is None:
        raise MissingExtraError("the engine PISA", "pyterrier-pisa", HOW_TO_INSTALL)
    threads = Path(sys.prefix) / "lib" / "libtbb.so.2"
    if not threads.exists():
        raise MissingExtraError("the engine PISA", "tbb", HOW_TO_INSTALL)
    ctypes.CDLL(str(threads), mode=ctypes.RTLD_GLOBAL)
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    loader = importlib.machinery.ExtensionFileLoader("_pisathon", str(package / f"_pisathon{suffix}"))
    spec = importlib.util.spec_from_loader("_pisathon", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class Pisa(Converted):
    overhead: str | None = "pisa-call-overhead"

    def __init__(self, algorithm: str, encoding: str = ENCODING) -> None:
        self.name, self._algorithm, self._encoding = f"pisa-{algorithm.replace('_', '-')}", algorithm, encoding
        if encoding != ENCODING:
            self.name += f"-{encoding.removeprefix('block_')}"
        self._pisa = compiled_module()

    def build(self, documents: sp.csr_matrix, folder: Path) -> int:
        return self._open(made_once(folder / "pisa", partial(write_inverted, documents)))

    def _open(self, path: Path) -> int:
        self._context = self._pisa.RetrievalContext()
        with silenced():
            self._pisa.prepare_index(
                self._context, str(path), self._encoding, "quantized", "", block_size=BLOCK_SIZE, quantize=0
            )
        maxima = f"quantized.q0.bmw.{BLOCK_SIZE}"
        index = (maxima, f"{maxima}.{self._encoding}", "fwd.termlex", "fwd.doclex")
        return sum((path / file).stat().st_size for file in index)

    def prepared(self, terms: Terms, weights: Weights, k: int) -> Callable[[], Any]:
        return partial(self._retrieve, [(0, repeated(terms, weights))], k)

    def prepared_batch(self, queries: Sequence[tuple[Terms, Weights]], k: int) -> Callable[[], Any] | None:
        return partial(self._retrieve, [(row, repeated(*query)) for row, query in enumerate(queries)], k)

    def _retrieve(self, queries: list[tuple[int, dict[str, float]]], k: int) -> Any:
        room = k * len(queries)
        documents, scores = np.empty(room, object), np.empty(room, np.float32)
        size = self._pisa.retrieve(
            self._context,
            self._algorithm,
            queries,
            k=k,
            threads=1,
            pretokenised=1,
            query_weighted=1,
            result_qidxs=np.empty(room, np.int32),
            result_docnos=documents,
            result_ranks=np.empty(room, np.int32),
            result_scores=scores,
        )
        return documents[:size], scores[:size]

    def answer(self, found: Any) -> Answer:
        documents, scores = found
        return documents.astype(np.int64), scores.astype(np.int64)


class PisaOverhead(Pisa):
    """The cost of the call before any list is read: the same terms and weights against one document that has them all.

    Ids that come back as strings are not in it: how many do depends on the answer."""

    searches = False
    overhead = None

    def __init__(self) -> None:
        super().__init__("ranked_or")
        self.name = str(Pisa.overhead)

    def build(self, documents: sp.csr_matrix, folder: Path) -> int:
        used = np.unique(documents.indices)
        one = sp.csr_matrix((np.ones(len(used), np.uint8), used, [0, len(used)]), shape=(1, documents.shape[1]))
        return self._open(made_once(folder / "pisa-one-document", partial(write_inverted, one)))


def repeated(terms: Terms, weights: Weights) -> dict[str, float]:
    """A query as the binding takes it: names of terms and weights, which must be Python floats."""
    return {term_name(term): float(weight) for term, weight in zip(terms.tolist(), weights.tolist(), strict=True)}


def term_name(term: int) -> str:
    """Of equal length, so that the order of names is that of numbers, as PISA's lexicon needs it."""
    return f"{term:08d}"


def write_inverted(documents: sp.csr_matrix, folder: Path) -> None:
    """PISA's binary collection: sequences of uint32, each behind its length; terms without postings are left out."""
    lists = documents.tocsc()
    lists.sort_indices()
    lengths = np.diff(lists.indptr)
    used = np.flatnonzero(lengths)
    n_documents = documents.shape[0]
    with (folder / "inv.docs").open("wb") as file:
        np.array([1, n_documents], np.uint32).tofile(file)
        sequences(lists.indices, lengths[used]).tofile(file)
    sequences(lists.data, lengths[used]).tofile(folder / "inv.freqs")
    sizes = np.maximum(1, np.diff(documents.indptr))
    np.concatenate(([n_documents], sizes)).astype(np.uint32).tofile(folder / "inv.sizes")
    (folder / "fwd.terms").write_text("".join(f"{term_name(term)}\n" for term in used.tolist()))
    (folder / "fwd.documents").write_text("".join(f"{row}\n" for row in range(n_documents)))
    pisa = compiled_module()
    pisa.build_binlex(str(folder / "fwd.terms"), str(folder / "fwd.termlex"))
    pisa.build_binlex(str(folder / "fwd.documents"), str(folder / "fwd.doclex"))


def sequences(values: Any, lengths: Any) -> Any:
    """All `values` with each sequence's length in front of it, as uint32."""
    heads = np.cumsum(lengths + 1) - (lengths + 1)
    out = np.empty(len(values) + len(lengths), np.uint32)
    body = np.ones(len(out), bool)
    body[heads] = False
    out[heads], out[body] = lengths, values
    return out


def engines() -> list[Engine]:
    return [*(Pisa(algorithm) for algorithm in ALGORITHMS), Pisa("maxscore", OTHER_ENCODING), PisaOverhead()]
