"""A tiny model, texts for it, and folders compared to the byte: what tests of work by shards share."""

import json
import random
from pathlib import Path

from lexigraft.core.artifact import MANIFEST
from lexigraft.model.inference_form import make_form
from tests.families import STEMS, write_backbone
from tests.unit.model.test_inference_form import grafted, saved


def write_model(folder: Path) -> Path:
    """A model that knows nothing and says much, ready to encode without torch."""
    (folder / "backbone").mkdir(parents=True)
    model = saved(grafted(write_backbone("bert", folder / "backbone", loud=20.0)), folder / "model")
    make_form(model)
    return model


def write_corpus(folder: Path, n_documents: int, fields: bool = False, seed: int = 0) -> Path:
    """Texts of many lengths; some documents have no text at all."""
    draw = random.Random(seed)
    folder.mkdir(parents=True)
    with (folder / "corpus.jsonl").open("w") as file:
        for number in range(n_documents):
            text = " ".join(draw.choices(STEMS, k=draw.randint(0, 20)))
            metadata = {"metadata": {"year": 1990 + number % 30, "tag": draw.choice(STEMS)}} if fields else {}
            file.write(json.dumps({"_id": f"d{number}", "title": draw.choice(STEMS), "text": text, **metadata}) + "\n")
    return folder


def contents(folder: Path, but: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Every file of a folder, the manifest too."""
    assert (folder / MANIFEST).is_file()
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return {name: file.read_bytes() for file in files if (name := file.relative_to(folder).as_posix()) not in but}
