"""Clusters of queries: the same every time, and of things that belong together."""

import builtins
import importlib.util
import re

import pytest

from lexigraft.core.errors import InputError, MissingExtraError
from lexigraft.core.installing import install_extra
from lexigraft.datasets.query_clusters import choose_backbone, cluster_queries
from tests.unit.model.test_backbone import folder  # noqa: F401

QUERIES = [f"{subject} {word}" for subject in ("python sorting", "chicken soup", "월드컵 축구") for word in "abcdefgh"]


def test_topics_come_together_and_the_same_twice():
    clusters = cluster_queries(QUERIES, 3, "none", seed=0)
    assert [len(set(clusters[start : start + 8].tolist())) for start in (0, 8, 16)] == [1, 1, 1]
    assert len(set(clusters.tolist())) == 3
    assert clusters.tolist() == cluster_queries(QUERIES, 3, "none", seed=0).tolist()


@pytest.mark.parametrize("queries", [["a"], ["a", "b"], ["!!", "??", "--"], ["same", "same", "same"]])
def test_hardly_any_queries(queries):
    assert cluster_queries(queries, 1, "none", seed=0).tolist() == [0] * len(queries)


def test_as_many_clusters_as_queries_but_no_more():
    assert len(cluster_queries(QUERIES, len(QUERIES), "none", seed=0)) == len(QUERIES)
    with pytest.raises(InputError, match=r"25 clusters are more than the 24 queries.*--clusters"):
        cluster_queries(QUERIES, 25, "none", seed=0)
    with pytest.raises(InputError, match="clusters = 0 is not allowed"):
        cluster_queries(QUERIES, 0, "none", seed=0)


def test_what_is_not_installed(monkeypatch):
    found = importlib.util.find_spec

    def without(*absent):
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, *rest: None if name in absent else found(name, *rest)
        )

    without("torch")
    assert choose_backbone("auto") == choose_backbone("none") == "none"
    with pytest.raises(MissingExtraError, match="--backbone none"):
        choose_backbone("embedded")
    without("sklearn")
    with pytest.raises(MissingExtraError, match=re.escape(install_extra("clicks"))):
        cluster_queries(QUERIES, 3, "none", seed=0)


def test_a_backbone_gives_the_same_clusters_twice(folder):  # noqa: F811
    texts = ["ab", "ab", "hgf", "hgf", "ce d", "ce d"]
    clusters = cluster_queries(texts, 3, str(folder), seed=0).tolist()
    assert clusters == cluster_queries(texts, 3, str(folder), seed=0).tolist()
    assert clusters[::2] == clusters[1::2]


def test_words_and_letters_need_no_torch(monkeypatch):
    really = builtins.__import__

    def refuse(name, *rest):
        assert name.partition(".")[0] not in ("torch", "transformers")
        return really(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    cluster_queries(QUERIES, 2, "none", seed=0)
