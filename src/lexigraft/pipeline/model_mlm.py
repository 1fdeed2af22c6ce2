"""A backbone trained as a masked language model, as one artifact: a folder that `model.backbone` takes."""

import json
import logging
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.artifact import Manifest, recipe, write_artifact, write_json
from lexigraft.core.errors import InputError
from lexigraft.core.lock import writer_lock
from lexigraft.core.processes import n_processes
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.core.types import Vocabulary
from lexigraft.model.backbone import default_device
from lexigraft.model.families import n_positions
from lexigraft.model.masked_lm import MaskedLM, load_masked_lm
from lexigraft.pipeline import stages
from lexigraft.pipeline.ensure import whole_artifact
from lexigraft.pipeline.single import require_free_for
from lexigraft.pipeline.train_model import file_hashes
from lexigraft.pipeline.training_curves import draw
from lexigraft.pipeline.vocabularies import judged_collection
from lexigraft.train.loop import Training
from lexigraft.train.mlm import MlmSettings, MlmTexts, choose_texts, train_mlm
from lexigraft.vocab.aligned import AlignedReader, AlignedTexts, joined
from lexigraft.vocab.batching import batches

KIND, FORMAT_VERSION = "masked-lm", 1
FACTS = "mlm.json"

log = logging.getLogger(__name__)


def make_masked_lm(
    backbone: str, source: str, out: Path, mlm: MlmSettings, settings: Settings, progress: Progress = SILENT
) -> dict[str, Any]:
    """Train `backbone` on the documents of `source` and write it at `out`, replacing a masked language model there;
    returns what there is to say of it. A killed call is continued by the next; what is done already is kept."""
    if n_processes() > 1:
        raise InputError("model mlm runs as one process; start it without torchrun")
    require_free_for(out, KIND)
    config = {"backbone": backbone, **file_hashes(Path(backbone)), **stages.settings_config(mlm)}
    config["texts"] = stages.source_description(source, settings.data)
    wanted = Manifest(KIND, FORMAT_VERSION, config, seed=mlm.seed)
    aside = out.with_name(f".{out.name}.training")
    if whole_artifact(out, wanted) is not None:
        log.info("mlm: done before")
    else:
        model = load_masked_lm(backbone, mlm.layers, mlm.seed).to(default_device())
        _require_positions(backbone, model, mlm.length)
        with writer_lock(aside):
            with judged_collection(source, settings.data, progress) as collection:
                texts = _read((document.contents for document in collection.documents()), model, mlm.length)
            corpus = choose_texts(texts, np.array(model.tokenizer.ordinary_ids, np.int32))
            training = train_mlm(model, corpus, mlm, aside / "checkpoint", recipe(wanted), progress)
            with write_artifact(out, wanted) as folder:
                _write(model, training, {"backbone": backbone, **_facts(model, corpus, training)}, folder)
            shutil.rmtree(aside)
    facts: dict[str, Any] = json.loads((out / FACTS).read_text(encoding="utf-8"))
    return facts


def _require_positions(name: str, model: MaskedLM, length: int) -> None:
    most = n_positions(model.body.model)
    if most is not None and length > most:
        raise InputError(f"--length {length}: {name!r} reads at most {most} subwords; give so many or fewer")


def _read(texts: Iterable[str], model: MaskedLM, length: int) -> AlignedTexts:
    """Texts as subwords; which terms they belong to does not matter here."""
    reader = AlignedReader(model.tokenizer, Vocabulary([]))
    parts = [reader.read(some, length) for some in batches(texts, len)]
    if not parts:
        raise InputError("there is no text to train on; give --texts a collection that has some")
    return joined(parts)


def _facts(model: MaskedLM, corpus: MlmTexts, training: Training) -> dict[str, Any]:
    """Loss and accuracy are means over the last tenth of the steps: a single batch says little."""
    n_dropped = len(corpus.texts) - len(corpus.rows)
    if n_dropped:
        log.info("mlm: %d of %d texts hold no known subword and were left out", n_dropped, len(corpus.texts))
    last = training.history[-max(1, len(training.history) // 10) :]
    means = {key: sum(values[key] for values in last) / len(last) for key in ("loss", "accuracy")}
    counts = {"texts": len(corpus.texts), "without_subwords": n_dropped, "steps": len(training.history)}
    return {"head": model.head, "tied": model.is_tied, **counts, **means}


def _write(model: MaskedLM, training: Training, facts: dict[str, Any], folder: Path) -> None:
    model.save(folder)
    (folder / "history.json").write_text(json.dumps(training.history))
    draw(training.history, folder / "curves.png")
    write_json(folder / FACTS, facts)
