"""The learned model of a run: backbone, vocabulary, pre-training, a teacher and fine-tuning, each kept or made."""

import importlib.util
import logging
import shutil
from dataclasses import replace
from pathlib import Path

from lexigraft.core.artifact import Manifest, read_manifest, recipe
from lexigraft.core.config import settings_config
from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.core.installing import install_extra
from lexigraft.core.processes import is_leader
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import FinetuneSettings, Settings
from lexigraft.core.systems_table import BM25
from lexigraft.data.collection import CORPUS, Collection
from lexigraft.data.sources import open_source
from lexigraft.learn.backbone_choice import SCRATCH, BackboneChoice, backbone_name
from lexigraft.learn.backbone_training import BackboneTraining
from lexigraft.learn.finetuning_recipe import (
    finetuning_config,
    named_files,
    require_no_pressure_on_queries,
    require_positions,
)
from lexigraft.learn.training_data import DEV, TRAIN, can_train, measured_training_queries, scores_file, training_files
from lexigraft.learn.training_job import TrainingJob
from lexigraft.learn.training_stage import ensure_trained
from lexigraft.stages.collect import reading_of_others
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.expanded_documents import Expansions, expanded_collection, named_expansions
from lexigraft.stages.layout import JUDGED, RunFolder
from lexigraft.vectors.open_network import ensure_form

FEWEST_PAIRS = 200  # fewer teach a model nothing that BM25 does not know
NEEDED = ("torch", "transformers", "safetensors")

log = logging.getLogger(__name__)


def missing_packages() -> list[str]:
    """What training needs and is not installed."""
    return [name for name in NEEDED if importlib.util.find_spec(name) is None]


def why_not(collection: Collection) -> str:
    """Why no model can be trained for a collection; empty where one can."""
    if missing := missing_packages():
        return f"{', '.join(missing)} not installed ({install_extra('train')})"
    if not can_train(collection):
        return "no training judgements (qrels/train.tsv)"
    known = {query.query_id for query in collection.queries()}
    n_pairs = sum(qrel.relevance > 0 and qrel.query_id in known for qrel in collection.qrels(TRAIN))
    return f"only {n_pairs} training pairs" if n_pairs < FEWEST_PAIRS else ""


class ModelTraining:
    """Makes what is missing of a model, one stage at a time; each returns the manifest of what it leaves."""

    def __init__(
        self,
        collection: Collection,
        measured_split: str | None,
        folder: RunFolder,
        settings: Settings,
        artifacts: Ensurer,
        progress: Progress = SILENT,
    ) -> None:
        self.collection, self.measured_split, self.folder = collection, measured_split, folder
        self.settings, self.artifacts, self.progress = settings, artifacts, progress
        self.data = training_files(collection)
        self._start = BackboneTraining(collection, self.data, folder, settings, artifacts, progress)
        self.backbone = self._start.choice
        self._made: dict[str, Manifest] = {}  # by folder: asked for by several stages, made or kept once

    def vocabulary(self) -> Manifest:
        from lexigraft.learn import vocabulary as words
        from lexigraft.vocab import lexicon

        if self.settings.model.head in ("plain", "unicoil"):
            return self._subwords()
        settings, rule = self.settings.vocab.decided(), self.settings.words.rule
        config, parents = {**settings_config(settings), **rule.entry, **self.backbone.recipe}, dict(self.data)
        backbone, ready = self.backbone.source, read_manifest(Path(settings.source)) if settings.source else None
        if ready is not None:
            parents["vocabulary"] = ready.fingerprint

            def make(out: Path) -> None:
                words.adopt_vocabulary(self.collection, Path(settings.source), backbone, out)
        else:
            words_of = self.collection
            if settings.source:
                words_of = open_source(settings.source, reading_of_others(self.settings.data))
                parents["words"] = words_of.digest(CORPUS)

            def make(out: Path) -> None:
                words.learn_vocabulary(self.collection, words_of, backbone, settings, out, rule)

        wanted = Manifest(lexicon.KIND, lexicon.FORMAT_VERSION, config, parents)
        return self.artifacts.ensure("vocabulary", "vocabulary", self.folder.model("vocabulary"), wanted, make)

    def _subwords(self) -> Manifest:
        """The vocabulary of a plain head: nothing is learned, but its terms are counted."""
        from lexigraft.learn import vocabulary as words
        from lexigraft.vocab import lexicon

        if source := self.settings.vocab.source:
            raise SettingError(
                f"vocab.source = {source!r} does not go with model.head = {self.settings.model.head!r}, whose terms "
                "are the backbone's own subwords; leave it out, or take a grafted or random head"
            )
        config = {"head": "plain", **self.backbone.recipe}
        wanted = Manifest(lexicon.KIND, lexicon.FORMAT_VERSION, config, dict(self.data))
        return self.artifacts.ensure(
            "vocabulary", "vocabulary", self.folder.model("vocabulary"), wanted,
            lambda out: words.count_subwords(self.collection, self.backbone.source, out),
        )  # fmt: skip

    def language_model(self) -> BackboneChoice:
        """What every stage after the vocabulary starts from."""
        return self._start.language_model()

    def pretrained(self) -> Manifest:
        from lexigraft.learn import pretraining
        from lexigraft.learn import vocabulary as words
        from lexigraft.model import encoder

        model, seed = self.settings.model, self.settings.run.seed
        if model.head == "unicoil" and self.settings.pretrain.steps:
            raise SettingError(
                f"pretrain.steps = {self.settings.pretrain.steps} trains a head to name terms, and model.head = "
                "'unicoil' names none; set it to 0 and pre-train the backbone itself (lexigraft model mlm)"
            )
        start = {"layers": model.layers, "head": model.head, "inflate": model.inflate, "own_words": model.own_words}
        if model.head == "grafted" and model.graft != "mean":
            start["graft"] = model.graft
        vocabulary, backbone = self.vocabulary(), self.language_model()
        config = {
            **backbone.recipe, **start, "length": model.document_length,
            "pretrain": settings_config(self.settings.pretrain),
        }  # fmt: skip
        parents = {"vocabulary": vocabulary.fingerprint, **self.data}
        other = self.settings.pretrain.source
        read = open_source(other, reading_of_others(self.settings.data)) if other else None
        if read is not None:
            parents["texts"] = read.digest(CORPUS)
        wanted = Manifest(encoder.KIND, encoder.FORMAT_VERSION, config, parents, seed)

        def make(checkpoint: Path, out: Path) -> None:
            own = words.texts_of(self.collection)
            texts = own if read is None else (document.contents for document in read.documents())
            pretraining.pretrain(
                texts, self.folder.model("vocabulary"), backbone.source, backbone.name,
                model, self.settings.pretrain, TrainingJob(seed, recipe(wanted), self.progress, checkpoint, out),
            )  # fmt: skip

        return ensure_trained(self.artifacts, self.folder, "pretrain", "pretrained", wanted, make)

    def finetuned(self) -> Manifest:
        from lexigraft.learn import finetuning
        from lexigraft.model import encoder

        model, settings, seed = self.settings.model, self.settings.finetune, self.settings.run.seed
        if model.queries != "model":
            require_no_pressure_on_queries(settings)
        files = named_files(settings)  # read first: one that is missing is said before anything is trained
        named_expansions(model.expansions)
        if self.settings.tilde.trains and self.settings.tilde.positives:
            scores_file("tilde.positives", self.settings.tilde.positives)
        if backbone_name(model.backbone) == SCRATCH:
            require_positions(self.settings)
        source = self._table_source() if model.expands_by_table else {}
        parents = {"pretrained": self.pretrained().fingerprint, **self.data, **source}
        if self.settings.teacher.trains:
            settings = self.taught()
            files = named_files(settings)
        elif settings.miner:
            settings = self._with_mined()
            files = named_files(settings)
        config = finetuning_config(model, settings, self.measured_split)
        expansions = self.expansions()
        if expansions is not None:
            config["expansion_length"], files["expansions"] = model.expansion_length, expansions.digest
            model = replace(model, expansions=str(expansions.file))
        parents |= files | self._teachers()
        if measured_training_queries(self.collection, self.measured_split):
            parents["measured"] = self.collection.digest(str(self.measured_split))  # its queries do not train
        if settings.validate_every and DEV in self.collection.splits:
            parents["dev"] = self.collection.digest(DEV)
        wanted = Manifest(encoder.KIND, encoder.FORMAT_VERSION, config, parents, seed)

        def make(checkpoint: Path, out: Path) -> None:
            with expanded_collection(self.collection, expansions) as collection:
                finetuning.finetune(
                    collection, self.measured_split, self.folder.model("vocabulary"),
                    self.folder.model("pretrained"), model, settings,
                    TrainingJob(seed, recipe(wanted), self.progress, checkpoint, out), self.folder,
                )  # fmt: skip

        made = ensure_trained(self.artifacts, self.folder, "finetune", "finetuned", wanted, make)
        for stage in ("pretrain", "tilde", "finetune"):
            for what in ("checkpoint", "texts", "alpha", "table", "lessons"):
                shutil.rmtree(self.folder.model(f"{stage}-{what}"), ignore_errors=True)
        if is_leader() and (reason := ensure_form(self.folder.model("finetuned"))):
            log.info("the model is searched by torch: %s", reason)
        return made

    def _table_source(self) -> dict[str, str]:
        """The model that the table of queries is distilled from, as a parent; looked at before anything is trained."""
        from lexigraft.learn.query_expansions import table_source
        from lexigraft.vocab.lexicon import open_lexicon

        self.vocabulary()
        words = open_lexicon(self.folder.model("vocabulary")).vocabulary
        made = read_manifest(table_source(self.settings.model.table_source, words.fingerprint))
        assert made is not None, "just read"
        return {"table_source": made.fingerprint}

    def _teachers(self) -> dict[str, str]:
        """The systems that fine-tuning learns from, as parents: they were trained and encoded before."""
        found: dict[str, str] = {}
        settings = self.settings.finetune
        for name in (BM25, *settings.teachers) if settings.hears else ():
            made = read_manifest(self.folder.vectors(JUDGED, name))
            if made is None:
                raise ArtifactError(
                    f"finetune.teachers: the run at {self.folder.root} has no vectors of {name!r}; make them with: "
                    "lexigraft run, and name that system in run.systems"
                )
            found[f"teacher {name}"] = made.fingerprint
        return found

    def _with_mined(self) -> FinetuneSettings:
        """The settings of fine-tuning, with the negatives that BM25 or a teacher gives, which are mined first."""
        from lexigraft.learn.mined_negatives import MINED, MinedNegatives

        settings, out = self.settings.finetune, self.folder.model("negatives")
        negatives = MinedNegatives(
            "finetune", self.collection, self.folder, self.settings, self.artifacts, self.progress, settings.miner
        )
        negatives.mined(out, settings.negatives_depth)
        return replace(settings, negatives=str(out / MINED))

    def taught(self) -> FinetuneSettings:
        """The settings of fine-tuning, with the files of a teacher, which is trained first where one is asked for."""
        from lexigraft.learn.teacher.stage import TeacherStage

        stage = TeacherStage(
            self.collection, self.measured_split, self.folder, self.language_model(), self.settings, self.artifacts,
            self.progress,
        )  # fmt: skip
        return stage.taught()

    def expansions(self, view: str = JUDGED, collection: Collection | None = None) -> Expansions | None:
        """What is added to the documents that are encoded: of a file, or of TILDE, trained first, for the documents of
        `collection` (None: those that train); None where nothing is."""
        if not self.settings.tilde.trains:
            return named_expansions(self.settings.model.expansions)
        from lexigraft.learn.tilde import expansion as tilde_expansion

        settings, read = self.settings.tilde, collection or self.collection
        part = "expansions" if view == JUDGED else f"expansions-{view}"
        parents = {"tilde": self.tilde().fingerprint, CORPUS: read.digest(CORPUS)}
        config = {"top": settings.top, "keep": settings.keep}
        wanted = Manifest(tilde_expansion.KIND, tilde_expansion.FORMAT_VERSION, config, parents)
        folder = self.folder.model(part)
        if part not in self._made:
            self._made[part] = self.artifacts.ensure(
                "tilde", f"expansions ({view})", folder, wanted,
                lambda out: tilde_expansion.make_expansions(
                    self.folder.model("tilde"), read.documents(), settings.keep, settings.top, out,
                    self.folder.model(f"{part}-unfinished"), recipe(wanted), self.progress,
                ),
            )  # fmt: skip
        return Expansions(folder / tilde_expansion.FILE, str(self._made[part].files[tilde_expansion.FILE]["sha256"]))

    def tilde(self) -> Manifest:
        """The model that expands documents."""
        from lexigraft.learn.tilde import training as tilde

        backbone = self.language_model()
        wanted = tilde.wanted_tilde(self.collection, self.measured_split, backbone.recipe, self.settings)

        def make(checkpoint: Path, out: Path) -> None:
            tilde.train(
                self.collection, self.measured_split, backbone.source, backbone.name, self.settings, recipe(wanted),
                self.progress, checkpoint, out,
            )  # fmt: skip

        if "tilde" not in self._made:
            self._made["tilde"] = ensure_trained(self.artifacts, self.folder, "tilde", "tilde", wanted, make)
        return self._made["tilde"]
