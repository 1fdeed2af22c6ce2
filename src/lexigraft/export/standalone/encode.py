"""Encodes texts by the exported graph. Lexigraft need not be installed.

    python encode.py --queries "how to reverse a list"
    python encode.py --documents "Return a reversed copy of a list." --bits 8

Copyright the Lexigraft authors; licensed under the Apache License, Version 2.0.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from lexigraft.export.standalone.lexigraft_reading import ReadText, heaviest, look_up, open_reader

GRAPHS = {32: "graph.onnx", 8: "graph8.onnx"}
TEXTS_AT_ONCE = 64
Row = tuple[Any, Any]  # numbers of terms ascending, and their weights


class Encoder:
    """The model in `folder`, by its graph of 32 or 8 bits."""

    def __init__(self, folder: Path, bits: int = 32, threads: int = 0) -> None:
        self.facts = json.loads((folder / "lexigraft.json").read_text(encoding="utf-8"))["encoder"]
        self.reader = open_reader(folder)
        self.terms: list[str] = self.reader.terms
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.enable_mem_pattern = False  # every length is another shape
        graph = str(folder / GRAPHS[bits])
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self._inputs = {item.name for item in self._session.get_inputs()}
        self._table: dict[str, Any] | None = None
        if (folder / "table.safetensors").is_file():
            from safetensors.numpy import load_file

            self._table = load_file(folder / "table.safetensors")

    def encode(self, texts: Sequence[str], are_queries: bool) -> list[Row]:
        """The terms of each text with their weights, in order."""
        prompt = self.facts["query_prompt" if are_queries else "document_prompt"]
        texts = [prompt + text for text in texts]
        if are_queries and self.facts["queries"] != "model":
            return [self._look_up(terms) for terms in self.reader.terms_of_queries(texts)]
        read = self.reader.read(texts, are_queries)
        most = self.facts["query_terms" if are_queries else "document_terms"]
        found: list[Row] = [(np.zeros(0, np.int64), np.zeros(0, np.float32))] * len(read)
        # Texts of one length together: a batch is then a rectangle without padding.
        order = sorted(
            (row for row, text in enumerate(read) if any(text.pooled)), key=lambda row: len(read[row].subwords)
        )
        start = 0
        while start < len(order):
            length = len(read[order[start]].subwords)
            rows = [row for row in order[start : start + TEXTS_AT_ONCE] if len(read[row].subwords) == length]
            of_texts, terms, weights = self._run([read[row] for row in rows])
            ends = np.searchsorted(of_texts, np.arange(len(rows) + 1))
            for place, row in enumerate(rows):
                span = slice(ends[place], ends[place + 1])
                found[row] = heaviest(terms[span], weights[span], most)
            start += len(rows)
        return found

    def _run(self, texts: Sequence[ReadText]) -> list[Any]:
        speaks_for_text = self.facts["pooling"] == "cls" and self.facts["head"] != "unicoil"
        places = [[0] if speaks_for_text else [at for at, is_in in enumerate(text.pooled) if is_in] for text in texts]
        most = max(map(len, places))
        feed: dict[str, Any] = {
            "subwords": np.array([text.subwords for text in texts], np.int64),
            "places": np.array([some + some[:1] * (most - len(some)) for some in places], np.int64),
        }
        if "is_there" in self._inputs:
            feed["is_there"] = np.array([[float(at < len(some)) for at in range(most)] for some in places], np.float32)
        if "own_terms" in self._inputs:
            own = [(row, term, text.own[term]) for row, text in enumerate(texts) for term in sorted(text.own)]
            feed["own_texts"] = np.array([row for row, _, _ in own], np.int64)
            feed["own_terms"] = np.array([term for _, term, _ in own], np.int64)
            feed["own_weights"] = np.array([weight for _, _, weight in own], np.float32)
        return list(self._session.run(["texts", "terms", "weights"], feed))

    def _look_up(self, terms: list[int]) -> Row:
        if self._table is None:
            return np.array(terms, np.int64), np.ones(len(terms), np.float32)
        return look_up(self._table, terms)


def main() -> None:
    """Write each text as a line of JSON."""
    parser = argparse.ArgumentParser(description="Encode texts as weighted terms.")
    parser.add_argument("texts", nargs="*", help="documents; without any, a line of standard input each")
    parser.add_argument("--queries", nargs="+", default=[], help="texts that are queries")
    parser.add_argument("--documents", nargs="+", default=[], help="texts that are documents")
    parser.add_argument("--bits", type=int, choices=sorted(GRAPHS), default=32)
    asked = parser.parse_args()
    encoder = Encoder(Path(__file__).resolve().parent, asked.bits)
    documents = [*asked.texts, *asked.documents]
    if not documents and not asked.queries:
        documents = [line.rstrip("\n") for line in sys.stdin]
    rows = [*encoder.encode(asked.queries, True), *encoder.encode(documents, False)] if asked.queries else (
        encoder.encode(documents, False)
    )  # fmt: skip
    for numbers, weights in rows:
        heavy_first = sorted(zip(weights.tolist(), numbers.tolist(), strict=True), key=lambda pair: (-pair[0], pair[1]))
        vector = {encoder.terms[number]: round(weight, 4) for weight, number in heavy_first}
        sys.stdout.write(json.dumps(vector, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
