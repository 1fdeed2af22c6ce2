"""Engines that cannot be run here, as far as their scores go: each reads exported files alone, and adds up with the
rounding of the engine. They are the twins of OpenSearch, Elasticsearch and Vespa; no code of the product is in them."""

import gzip
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

LARGEST_QUERY_WEIGHT = 64.0  # that Lucene takes of a feature


def lines_of(folder: Path, pattern: str) -> list:
    """The JSON values of all parts, in order."""
    found = []
    for part in sorted(folder.glob(pattern)):
        with gzip.open(part, "rt", encoding="utf-8") as file:
            found += [json.loads(line) for line in file]
    return found


def queries_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]


def as_feature(weights: np.ndarray) -> np.ndarray:
    """What Lucene keeps of positive floats, as a term's frequency: sign, exponent and 8 bits of the fraction."""
    assert (weights >= np.finfo(np.float32).tiny).all(), "Lucene takes positive, normal floats alone"
    return ((weights.astype(np.float32).view(np.uint32) >> 15) << 15).view(np.float32)


class _Postings:
    """Rows by key, as arrays."""

    def __init__(self, rows: list[tuple[str, str, dict[str, float]]]) -> None:
        self.ids = [row_id for row_id, _, _ in rows]
        self.documents = [document for _, document, _ in rows]
        assert len(set(self.ids)) == len(self.ids), "a row of the same id would replace the former one"
        places, weights = defaultdict(list), defaultdict(list)
        for place, (_, _, terms) in enumerate(rows):
            for key, weight in terms.items():
                places[key].append(place)
                weights[key].append(weight)
        self.lists = {key: (np.array(places[key]), np.array(weights[key], np.float64)) for key in places}

    def best(self, scores: np.ndarray, k: int, fold: bool) -> list[tuple[str, float]]:
        """The k best, equal ones by place; of documents in passages, the best one of each."""
        found, seen = [], set()
        for place in np.argsort(-scores, kind="stable"):
            if scores[place] <= 0 or len(found) == k:
                break
            name = self.documents[place] if fold else self.ids[place]
            if name not in seen:
                seen.add(name)
                found.append((name, float(scores[place])))
        return found


class LuceneTwin:
    """OpenSearch's `rank_features` by `neural_sparse`, Elasticsearch's `sparse_vector` by the query of that name."""

    def __init__(self, folder: Path) -> None:
        mapping = json.loads((folder / "index.json").read_text())["mappings"]["properties"]
        self.kind = mapping["terms"]["type"]
        found = lines_of(folder, "bulk-*.ndjson.gz")
        rows = []
        for action, source in zip(found[::2], found[1::2], strict=True):
            assert list(action) == ["index"] and source.keys() <= mapping.keys()
            row_id = action["index"]["_id"]
            assert 0 < len(row_id.encode()) <= 512
            for key in source.get("terms", {}):
                assert "." not in key and 0 < len(key.encode()) <= 32_766
            rows.append((row_id, source.get("document", ""), source.get("terms", {})))
        self._postings = _Postings(rows)
        for key, (places, weights) in self._postings.lists.items():
            self._postings.lists[key] = (places, as_feature(weights))

    def search(self, body: dict) -> list[tuple[str, float]]:
        (kind,), (asked,) = body["query"], body["query"].values()
        if kind == "neural_sparse":
            assert self.kind == "rank_features"
            weights = asked["terms"]["query_tokens"]
            assert max(weights.values()) <= LARGEST_QUERY_WEIGHT
        else:
            assert kind == self.kind == "sparse_vector" and asked["field"] == "terms" and asked["prune"] is False
            weights = asked["query_vector"]
        assert 0 < len(weights) <= 1024 and min(weights.values()) > 0
        scores = np.zeros(len(self._postings.ids), np.float64)  # a disjunction adds up in doubles
        for key, weight in weights.items():
            places, values = self._postings.lists.get(key, (np.zeros(0, np.int64), np.zeros(0, np.float32)))
            scores[places] += np.float32(weight) * values
        fold = "collapse" in body
        assert not fold or body["collapse"] == {"field": "document"}
        return self._postings.best(scores.astype(np.float32), body["size"], fold)


class VespaTwin:
    """The rank profile `impacts`: the sum of products of whole numbers; `by_tensors` the profile of floats."""

    def __init__(self, folder: Path) -> None:
        rows = []
        for put in lines_of(folder, "feed-*.jsonl.gz"):
            fields = put["fields"]
            assert put["put"].split("::", 1)[1] == fields["row_id"]
            assert all(isinstance(weight, int) and 0 < weight < 2**31 for weight in fields.get("terms", {}).values())
            rows.append((fields["row_id"], fields.get("document_id", ""), fields.get("terms", {})))
        self._postings = _Postings(rows)

    def search(self, body: dict, by_tensors: bool = False) -> list[tuple[str, float]]:
        assert "dotProduct(terms, @terms)" in body["yql"] and body["ranking"] == "impacts"
        asked, kind = json.loads(body["terms"]), np.float32 if by_tensors else np.int64
        scores = np.zeros(len(self._postings.ids), kind)
        for key, weight in asked.items():
            assert key.isdigit()
            places, values = self._postings.lists.get(key, (np.zeros(0, np.int64), np.zeros(0)))
            scores[places] += kind(weight) * values.astype(kind)
        fold = "group(document_id)" in body["yql"]
        return self._postings.best(scores, 100, fold)
