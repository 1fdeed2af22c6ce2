import json

import numpy as np

from lexigraft.vectors.encoding_facts import EncodingFacts, reading_in_words
from lexigraft.vectors.store import VectorsMeta, read_meta, write_meta


def test_what_is_read_is_counted_over_batches():
    facts = EncodingFacts(6)
    facts.add_reading(np.array([4, 4]), np.array([8, 4]))
    facts.add_reading(np.array([1, 0]), np.array([4, 0]))  # an empty document is read whole
    assert (facts.documents, facts.read_whole) == (4, 2)
    assert facts.shares_read == 0.5 + 1 + 0.25 + 1
    said = reading_in_words(facts.as_json())
    assert "first 6 subwords" in said
    assert "50.0% of 4 documents are read whole, and of a document 68.8% on average" in said


def test_what_nobody_counted_is_not_said(tmp_path):
    assert reading_in_words({}) == ""
    meta = VectorsMeta(1, 2, "v", {"kind": "bm25"})
    write_meta(tmp_path, meta)
    assert "encoding" not in json.loads((tmp_path / "meta.json").read_text())  # as former versions wrote it
    assert read_meta(tmp_path) == meta
