"""A run with BM25 and a grafted system, made without an encoder: the documents' vectors are given."""

from pathlib import Path

import numpy as np

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.config import load_settings
from lexigraft.core.settings import GRAFTED
from lexigraft.core.systems import systems_of
from lexigraft.core.systems_table import BM25
from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from lexigraft.grafted.shares import Shares
from lexigraft.grafted.write import make_graft, write_grafted
from lexigraft.stages.layout import JUDGED, RunFolder
from lexigraft.stages.standalone import index_vectors
from lexigraft.vectors.lexical import encode_documents
from lexigraft.vectors.store import FORMAT_VERSION, KIND, open_vectors

DOCUMENTS = [
    Document("cat", "A cat", "the cat sat on the mat and purred"),
    Document("kitten", "A kitten", "a kitten is a young cat that purred and played"),
    Document("dog", "A dog", "the dog barked at the postman"),
    Document("puppy", "A puppy", "a puppy is a young dog that barked and played"),
    Document("lists", "Lists", "sorting lists in order"),
    Document("graphs", "Graphs", "graphs and lists sorted by dates"),
]
ANGLES = (0.0, 0.2, 1.2, 1.4, 3.0, 3.3)  # of their vectors: whose are near each other lend each other words


def write_grafted_run(folder: Path) -> RunFolder:
    """The run at `folder`, which keeps the texts of its collection."""
    settings, run = load_settings(values={"run.systems": [BM25, GRAFTED]}), RunFolder(folder)
    write_collection(run.collection, DOCUMENTS)
    lexical, grafted = run.vectors(JUDGED, BM25), run.vectors(JUDGED, GRAFTED)
    with write_artifact(lexical, Manifest(KIND, FORMAT_VERSION, {})) as made:
        encode_documents(DOCUMENTS, settings.lexical.decided(), made)
    bm25 = open_vectors(lexical)
    vectors = np.array([[np.cos(angle), np.sin(angle)] for angle in ANGLES], np.float32)
    with write_artifact(grafted, Manifest(KIND, FORMAT_VERSION, {}, {BM25: bm25.fingerprint})) as made:
        write_grafted(bm25, lexical, make_graft(bm25.matrix, vectors, Shares(0.2, 0.3), 2), None, made)
    for name, path in {BM25: lexical, GRAFTED: grafted}.items():
        index_vectors(path, run.index(JUDGED, name, 0), settings, data=str(run.collection))
    run.write_contents([JUDGED], systems_of(settings))
    return run
