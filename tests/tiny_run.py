"""A run with BM25 and a model that knows nothing and says much, made without training."""

from collections.abc import Sequence
from pathlib import Path

from lexigraft.core.config import load_settings
from lexigraft.core.systems import systems_of
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.model.inference_form import make_form
from lexigraft.stages.layout import JUDGED, RunFolder
from lexigraft.stages.standalone import build, encode, index_vectors
from tests.families import write_backbone
from tests.unit.model.test_inference_form import grafted, saved

SYSTEMS = ["bm25", "esplade"]


def write_run(
    folder: Path, documents: Sequence[Document], queries: Sequence[Query], qrels: dict[str, list[Qrel]]
) -> Path:
    """The run at `folder`, and its collection in the folder `collection` there."""
    settings, run = load_settings(values={"run.systems": SYSTEMS}), RunFolder(folder)
    write_collection(run.collection, documents, queries, qrels)
    data = str(run.collection)
    (folder / "backbone").mkdir()
    run.model("").mkdir()
    make_form(saved(grafted(write_backbone("bert", folder / "backbone", loud=20.0)), run.model("finetuned")))
    build(data, run.index(JUDGED, "bm25", 0), settings)
    encode(data, run.model("finetuned"), run.vectors(JUDGED, "esplade"), settings)
    index_vectors(run.vectors(JUDGED, "esplade"), run.index(JUDGED, "esplade", 0), settings, data=data)
    run.write_contents([JUDGED], systems_of(settings))
    return folder
