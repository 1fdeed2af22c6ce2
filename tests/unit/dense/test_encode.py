"""Documents to dense vectors: which texts are computed, how far the bar is, and that it is all the same."""

import hashlib

import numpy as np
import pytest

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.types import Document
from lexigraft.dense import store
from lexigraft.dense.encode import KnownTexts, encode_dense
from lexigraft.inference.dense_meta import DenseMeta

WHOLE = [Document(f"d{n}", f"title {n}", f"text of {n % 7}" + " more" * n) for n in range(20)]
CUT = [Document(one.doc_id, one.title if n % 3 else "", one.text) for n, one in enumerate(WHOLE) if n != 4]


class Counting:
    """Some unit vector for each text, two texts at a time; `asked` counts them."""

    meta = DenseMeta("counting", 4, 16, 16)

    def __init__(self):
        self.asked = []

    def embed_parts(self, texts, are_queries):
        assert not are_queries
        for start in range(0, len(texts), 2):
            some = texts[start : start + 2]
            self.asked += some
            digests = [np.frombuffer(hashlib.sha256(text.encode()).digest()[:4], np.uint8) + 1.0 for text in some]
            yield np.arange(start, start + len(some)), np.stack([d / np.linalg.norm(d) for d in digests]).astype("f4")


class Bar:
    def __init__(self, network):
        self.network, self.seen, self.total = network, [], None

    def track(self, items, label, total=None):
        self.total = total
        for item in items:
            self.seen.append(len(self.network.asked))
            yield item


def encoded(folder, documents, total=None, known=None):
    network = Counting()
    bar = Bar(network)
    with write_artifact(folder, Manifest(store.KIND, store.FORMAT_VERSION, {})) as draft:
        encode_dense(iter(documents), network, {"kind": "dense", "model": "x", "fingerprint": "y"}, draft, 32,
                     progress=bar, total=total, known=known)  # fmt: skip
    return store.open_dense_vectors(folder), network, bar


def test_the_bar_moves_with_every_batch(tmp_path):
    _, network, bar = encoded(tmp_path / "whole", WHOLE, total=20)
    assert bar.total == 20 and bar.seen == [2 * (n // 2) + 2 for n in range(20)]
    assert network.asked == [document.contents for document in WHOLE]


def test_the_same_texts_are_computed_once(tmp_path):
    whole, _, _ = encoded(tmp_path / "whole", WHOLE)
    known = KnownTexts(iter(CUT), iter(WHOLE), whole)
    same = {document.contents for document in WHOLE} & {document.contents for document in CUT}
    assert (known.n_wanted, known.n_known) == (19, len(same))
    cut, network, bar = encoded(tmp_path / "cut", CUT, known.n_wanted - known.n_known, known)
    assert network.asked == [document.contents for document in CUT if document.contents not in same]
    assert len(bar.seen) == bar.total == len(network.asked) > 0
    anew, _, _ = encoded(tmp_path / "anew", CUT)
    assert np.asarray(cut.matrix) == pytest.approx(np.asarray(anew.matrix))
    assert list(cut.row_ids) == list(anew.row_ids) and list(cut.titles) == list(anew.titles)
