"""A backbone trained as a masked language model, as one artifact: a folder that `model.backbone` takes."""

from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest, recipe
from lexigraft.core.errors import InputError, require
from lexigraft.core.processes import n_processes
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import MlmSettings, Settings
from lexigraft.learn.backbone_choice import file_hashes
from lexigraft.learn.mlm_training import FORMAT_VERSION, KIND, deciding, read_facts, reads_raw, train_masked_lm
from lexigraft.learn.training_job import TrainingJob
from lexigraft.stages.collect import source_description
from lexigraft.stages.standalone import require_free_for, train_alone
from lexigraft.stages.vocabularies import judged_collection


def make_masked_lm(
    backbone: str, source: str, out: Path, settings: Settings, layers: int = 0, progress: Progress = SILENT
) -> dict[str, Any]:
    """Train `backbone`, its first `layers` (0: all), on the documents of `source` by the settings `mlm` and `run.seed`,
    and write it at `out`, replacing a masked language model there; returns what there is to say of it. A killed call is
    continued by the next; what is done already is kept."""
    if n_processes() > 1:
        raise InputError("model mlm runs as one process; start it without torchrun")
    require_free_for(out, KIND)
    mlm, seed, raw = settings.mlm, settings.run.seed, reads_raw(settings.model)
    _require_one_corpus(mlm)
    config = {"backbone": backbone, **file_hashes(Path(backbone)), "layers": layers, "raw": raw, **deciding(mlm)}
    config["texts"] = source_description(source, settings.data)
    wanted = Manifest(KIND, FORMAT_VERSION, config, seed=seed)

    def train(aside: Path, folder: Path) -> None:
        with judged_collection(source, settings.data, progress) as collection:
            texts = (document.contents for document in collection.documents())
            job = TrainingJob(seed, recipe(wanted), progress, aside / "checkpoint", folder)
            train_masked_lm(texts, backbone, backbone, layers, raw, mlm, job)

    train_alone(out, wanted, "mlm", train)
    return read_facts(out)


def _require_one_corpus(mlm: MlmSettings) -> None:
    """Raise where the settings ask for nothing, or for what only a run does."""
    require(mlm.trains, "mlm.steps", mlm.steps, "1 or more, or mlm.epochs more than 0: else nothing is trained")
    alone = "empty for 'model mlm', which reads --texts alone; to go on with other texts, call it on what it wrote"
    require(not mlm.source, "mlm.source", mlm.source, alone)
    require(not mlm.second, "mlm.second", mlm.second, alone)
