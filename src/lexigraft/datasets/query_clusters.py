"""Queries to clusters of meaning: embedded by a backbone, or by their words and letters, then k-means.

scikit-learn is imported when used. Its arithmetic runs on one thread, so that the same queries and seed give the same
clusters.
"""

import importlib.util
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError, MissingExtraError
from lexigraft.core.installing import install_extra
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import AUTO
from lexigraft.vocab.words import split_words

NONE, EMBEDDED = "none", "embedded"
DIMENSIONS = 128  # of vectors made of words and letters
MOST_FEATURES = 200_000  # of each kind that those are reduced from
PASSES = 10  # over all queries
QUERIES_A_CENTRE = 3  # in every batch, at least
SMALLEST_BATCH = 4096

log = logging.getLogger(__name__)


def choose_backbone(name: str) -> str:
    """`name`, or for "auto" the packaged MiniLM where it and torch are installed, else "none"."""
    has_torch = all(importlib.util.find_spec(module) for module in ("torch", "transformers"))
    if name == AUTO:
        if has_torch:
            from lexigraft.core.installing import has_embedded

            if has_embedded():
                return EMBEDDED
        log.info("queries are clustered by their words and letters: no packaged backbone is installed")
        return NONE
    if name != NONE and not has_torch:
        raise MissingExtraError(f"the backbone {name!r}", "torch", f"{install_extra('train')}, or take --backbone none")
    return name


def cluster_queries(
    texts: Sequence[str], n_clusters: int, backbone: str, seed: int, progress: Progress = SILENT
) -> NDArray[np.int64]:
    """The cluster of each text; `backbone` as `choose_backbone` gave it. Some clusters may stay empty."""
    require_enough(len(texts), n_clusters)
    require_sklearn()
    from threadpoolctl import threadpool_limits

    vectors = None if backbone == NONE else _backbone_vectors(texts, backbone, progress)
    with threadpool_limits(1):
        vectors = _lexical_vectors(texts, seed) if vectors is None else vectors
        return _k_means(vectors, n_clusters, seed, progress)


def require_enough(n_queries: int, n_clusters: int) -> None:
    if n_clusters < 1:
        raise InputError(f"clusters = {n_clusters} is not allowed: 1 or more")
    if n_clusters > n_queries:
        raise InputError(
            f"{n_clusters:,} clusters are more than the {n_queries:,} queries there are; ask for at most so many, "
            "better far fewer (--clusters)"
        )


def require_sklearn() -> None:
    if importlib.util.find_spec("sklearn") is None:
        raise MissingExtraError("clustering", "scikit-learn", install_extra("clicks"))


def _backbone_vectors(texts: Sequence[str], backbone: str, progress: Progress) -> NDArray[np.float32]:
    from lexigraft.model.backbone import load_backbone
    from lexigraft.model.embed import embed

    return embed(load_backbone(backbone), texts, progress)


def _lexical_vectors(texts: Sequence[str], seed: int) -> NDArray[np.float32]:
    """TF-IDF of words and of three to five letters within a word, reduced to a few dimensions, of unit length."""
    from scipy.sparse import hstack
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    kinds: list[dict[str, Any]] = [
        {"analyzer": split_words}, {"analyzer": "char_wb", "ngram_range": (3, 5), "lowercase": True},
    ]  # fmt: skip
    parts = []
    for kind in kinds:
        vectorizer = TfidfVectorizer(
            **kind, max_features=MOST_FEATURES, sublinear_tf=True, dtype=np.float32, token_pattern=None
        )
        try:
            parts.append(vectorizer.fit_transform(texts))
        except ValueError:  # "empty vocabulary": queries of punctuation alone have no words
            continue
    if not parts:
        return np.zeros((len(texts), 1), np.float32)
    features = hstack(parts, format="csr")
    dimensions = min(DIMENSIONS, min(features.shape) - 1)
    log.info("reducing %d words and letter groups to %d dimensions", features.shape[1], max(dimensions, 1))
    if dimensions < 2:
        vectors = features.toarray()
    else:
        with np.errstate(all="ignore"):  # its explained variance, which nobody asked for, is 0/0 for equal queries
            vectors = TruncatedSVD(dimensions, random_state=seed).fit_transform(features)
    found: NDArray[np.float32] = normalize(vectors).astype(np.float32)
    return found


def _k_means(vectors: NDArray[np.float32], n_clusters: int, seed: int, progress: Progress) -> NDArray[np.int64]:
    from sklearn.cluster import MiniBatchKMeans

    rng, n_queries = np.random.default_rng(seed), len(vectors)
    n_batches = max(1, n_queries // max(SMALLEST_BATCH, QUERIES_A_CENTRE * n_clusters))
    model = MiniBatchKMeans(n_clusters, random_state=seed, n_init=1)
    batches = (rows for _ in range(PASSES) for rows in np.array_split(rng.permutation(n_queries), n_batches))
    for rows in progress.track(batches, "clustering queries", PASSES * n_batches):
        model.partial_fit(vectors[rows])
    places = np.array_split(np.arange(n_queries), n_queries // SMALLEST_BATCH + 1)
    parts = [model.predict(vectors[rows]) for rows in progress.track(places, "assigning queries", len(places))]
    return np.concatenate(parts).astype(np.int64)
