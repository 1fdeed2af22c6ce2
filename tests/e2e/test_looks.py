"""`model diagnose` and `model logits` look at a model as it encodes, whatever it pools and puts before its texts."""

from dataclasses import replace

import pytest

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.model.encoder import FORMAT_VERSION, KIND, save_encoder
from lexigraft.model.imported import import_encoder
from tests.families import STEMS, write_backbone

N = 12


def write_texts(folder, query_prompt="", document_prompt=""):
    words = [f"{STEMS[number % len(STEMS)]}a n{number % 3}" for number in range(N)]
    documents = [Document(f"d{number}", "", document_prompt + text) for number, text in enumerate(words)]
    queries = [Query(f"q{number}", query_prompt + text[:4]) for number, text in enumerate(words)]
    write_collection(
        folder, documents, queries, {"train": [Qrel(f"q{number}", f"d{number}", 1) for number in range(N)]}
    )
    return folder


@pytest.mark.parametrize("pooling", ["max", "sum", "cls"])
def test_prompts_stand_before_the_texts(pooling, tmp_path, lexigraft):
    encoder = import_encoder(str(write_backbone("bert", tmp_path / "backbone", loud=5.0)))
    prompts = {"query_prompt": "mele zane ", "document_prompt": "tosi "}
    for name, said in (("prompted", prompts), ("bare", {})):
        encoder.meta = replace(encoder.meta, pooling=pooling, **said)
        with write_artifact(tmp_path / name, Manifest(KIND, FORMAT_VERSION, {})) as folder:
            save_encoder(encoder, folder)
        encoder.meta = replace(encoder.meta, query_prompt="", document_prompt="")
    plain, prefixed = write_texts(tmp_path / "plain"), write_texts(tmp_path / "prefixed", *prompts.values())

    def looks(model, data):
        path, given = tmp_path / model, ("--data", data, "--json")
        found = lexigraft("model", "diagnose", path, *given), lexigraft("model", "logits", "--model", path, *given)
        assert [one.status for one in found] == [0, 0], found
        diagnosis, logits = (one.json for one in found)
        return diagnosis["activations"], {key: value for key, value in logits.items() if key != "model"}

    assert looks("prompted", plain) == looks("bare", prefixed) != looks("bare", plain)
