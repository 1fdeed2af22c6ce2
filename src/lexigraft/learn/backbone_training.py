"""The backbone that a model starts from: found or made from scratch, and trained as a masked language model."""

import logging
import shutil
from collections.abc import Mapping
from pathlib import Path

from lexigraft.core.artifact import Manifest, recipe
from lexigraft.core.progress import Progress
from lexigraft.core.settings import BackboneSettings, MlmSettings, Settings
from lexigraft.data.collection import CORPUS, Collection
from lexigraft.data.sources import open_source
from lexigraft.learn.backbone_choice import SCRATCH, BackboneChoice, backbone_name, file_hashes
from lexigraft.learn.training_job import TrainingJob
from lexigraft.learn.training_stage import ensure_trained
from lexigraft.stages.collect import reading_of_others
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.layout import RunFolder

log = logging.getLogger(__name__)


class BackboneTraining:
    """What `model.backbone` means for a run (`choice`), and what its later stages start from (`language_model`)."""

    def __init__(
        self,
        collection: Collection,
        data: Mapping[str, str],
        folder: RunFolder,
        settings: Settings,
        artifacts: Ensurer,
        progress: Progress,
    ) -> None:
        self.collection, self.data, self.folder = collection, data, folder
        self.settings, self.artifacts, self.progress = settings, artifacts, progress
        self.choice = self._chosen()
        self._trained: BackboneChoice | None = None

    def language_model(self) -> BackboneChoice:
        """What every later stage starts from: the backbone, trained as a masked language model where the settings ask
        for it, on one corpus and then on a second. The vocabulary does not depend on it."""
        mlm, layers = self.settings.mlm, self.settings.model.layers
        if self._trained is None:
            for source in (mlm.source, mlm.second):  # one that is missing is said before anything is trained
                if source:
                    open_source(source, reading_of_others(self.settings.data))
            chosen = self.choice
            if mlm.trains:
                chosen = self._masked_lm("mlm", chosen, layers, mlm, mlm.source)
            if mlm.second:
                chosen = self._masked_lm("mlm-second", chosen, 0, mlm.on_second(), mlm.second)
            self._trained = chosen
        return self._trained

    def _masked_lm(
        self, part: str, backbone: BackboneChoice, layers: int, mlm: MlmSettings, source: str
    ) -> BackboneChoice:
        from lexigraft.learn import mlm_training
        from lexigraft.learn import vocabulary as words

        raw, seed, path = mlm_training.reads_raw(self.settings.model), self.settings.run.seed, self.folder.model(part)
        config = {**backbone.recipe, "layers": layers, "raw": raw, **mlm_training.deciding(mlm)}
        other = open_source(source, reading_of_others(self.settings.data)) if source else None
        parents = dict(self.data) if other is None else {"texts": other.digest(CORPUS)}
        wanted = Manifest(mlm_training.KIND, mlm_training.FORMAT_VERSION, config, parents, seed)

        def make(checkpoint: Path, out: Path) -> None:
            own = words.texts_of(self.collection)
            texts = own if other is None else (document.contents for document in other.documents())
            mlm_training.train_masked_lm(
                texts, backbone.source, backbone.name, layers, raw, mlm,
                TrainingJob(seed, recipe(wanted), self.progress, checkpoint, out),
            )  # fmt: skip

        made = ensure_trained(self.artifacts, self.folder, "mlm", part, wanted, make, part)
        for begun in ("checkpoint", "texts"):
            shutil.rmtree(self.folder.model(f"{part}-{begun}"), ignore_errors=True)
        self.artifacts.add_facts(part, mlm_training.read_facts(path))
        return BackboneChoice(backbone.name, str(path), {"backbone": backbone.name, "trained": made.fingerprint})

    def _chosen(self) -> BackboneChoice:
        """What `model.backbone` means here; one from scratch is made first."""
        from lexigraft.learn import vocabulary as words
        from lexigraft.learn.fresh_backbone import FORMAT_VERSION, KIND, size_config

        name, size = backbone_name(self.settings.model.backbone), self.settings.backbone
        if name != SCRATCH:
            if size != BackboneSettings():
                log.warning("model.backbone = %r is not from scratch: the settings of [backbone] mean nothing", name)
            return BackboneChoice(name, name, {"backbone": name, **file_hashes(Path(name))})
        layers, seed, path = self.settings.model.layers, self.settings.run.seed, self.folder.model("backbone")
        learned_from = {} if size.tokenizer else self.data
        wanted = Manifest(KIND, FORMAT_VERSION, size_config(self.settings), learned_from, seed)
        made = self.artifacts.ensure(
            "vocabulary", "backbone", path, wanted,
            lambda out: words.make_backbone(self.collection, layers, seed, out, size),
        )  # fmt: skip
        return BackboneChoice(SCRATCH, str(path), {"backbone": SCRATCH, "made": made.fingerprint})
