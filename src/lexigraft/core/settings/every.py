"""All sections together, and the rules between them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, cast

from lexigraft.core.errors import require
from lexigraft.core.settings.backbone import BackboneSettings
from lexigraft.core.settings.data import DataSettings
from lexigraft.core.settings.declaration import AUTO
from lexigraft.core.settings.dense import DenseSettings
from lexigraft.core.settings.evaluate import EvaluateSettings
from lexigraft.core.settings.finetune import FinetuneSettings
from lexigraft.core.settings.grafted import GraftedSettings
from lexigraft.core.settings.hybrid import HybridSettings
from lexigraft.core.settings.index import IndexSettings
from lexigraft.core.settings.lexical import LexicalSettings
from lexigraft.core.settings.mlm import MlmSettings
from lexigraft.core.settings.model import ModelSettings
from lexigraft.core.settings.pretrain import PretrainSettings
from lexigraft.core.settings.prune import PruneSettings
from lexigraft.core.settings.run import BLEND, GRAFTED, LEXICAL, PEERS, RunSettings
from lexigraft.core.settings.search import SearchSettings
from lexigraft.core.settings.section import Section
from lexigraft.core.settings.teacher import TeacherSettings
from lexigraft.core.settings.tilde import TildeSettings
from lexigraft.core.settings.vocab import VocabSettings
from lexigraft.core.settings.words import WordsSettings

FORMER_NAME = "esplade"  # of any model, in runs from before models were called what they are
ONCE = "each system once"


@dataclass(frozen=True)
class Settings:
    """All of them; each stage is handed only its own section."""

    run: RunSettings = field(default_factory=RunSettings)
    data: DataSettings = field(default_factory=DataSettings)
    words: WordsSettings = field(default_factory=WordsSettings)
    lexical: LexicalSettings = field(default_factory=LexicalSettings)
    vocab: VocabSettings = field(default_factory=VocabSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    backbone: BackboneSettings = field(default_factory=BackboneSettings)
    mlm: MlmSettings = field(default_factory=MlmSettings)
    pretrain: PretrainSettings = field(default_factory=PretrainSettings)
    teacher: TeacherSettings = field(default_factory=TeacherSettings)
    tilde: TildeSettings = field(default_factory=TildeSettings)
    finetune: FinetuneSettings = field(default_factory=FinetuneSettings)
    dense: DenseSettings = field(default_factory=DenseSettings)
    grafted: GraftedSettings = field(default_factory=GraftedSettings)
    hybrid: HybridSettings = field(default_factory=HybridSettings)
    prune: PruneSettings = field(default_factory=PruneSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    evaluate: EvaluateSettings = field(default_factory=EvaluateSettings)
    # By the name of a system: its kind, and by section what it says in place of the run's settings. `config` reads and
    # checks these, `lexigraft.core.systems` applies them.
    systems: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._require_known_systems()
        both = bool(self.model.expansions) and self.tilde.trains
        require(not both, "model.expansions", self.model.expansions, "empty, unless tilde.steps and tilde.epochs are 0")
        if self.tilde.trains:
            words, room = self.tilde.keep or self.tilde.top, self.model.expansion_length
            kept = f"at most model.expansion_length, which is {room}: what is beyond it is never read"
            why = f"{kept}; 0 keeps up to tilde.top, which is {self.tilde.top}" if not self.tilde.keep else kept
            require(words <= room, "tilde.keep", self.tilde.keep, why)
        (_require_room_for_the_teacher if self.teacher.trains else _require_named_files)(self.finetune)

    @property
    def own_names(self) -> tuple[str, ...]:
        """What the model of the run's own settings may be called: what it is, or as every model was called once."""
        return tuple(name for name in dict.fromkeys((self.model.usual_name, FORMER_NAME)) if name not in self.systems)

    def _require_known_systems(self) -> None:
        named = self.run.systems
        if named == (AUTO,):
            return
        known = list(dict.fromkeys((*LEXICAL, GRAFTED, BLEND, *self.systems, *self.own_names, *PEERS)))
        ok = bool(named) and set(named) <= set(known)
        require(ok, "run.systems", list(named), f"some of {', '.join(known)}, or {AUTO}")
        own = [name for name in named if name in self.own_names]
        once = f"with one of {' and '.join(own)}: both are the run's own model"
        require(len(own) <= 1 and len(set(named)) == len(named), "run.systems", list(named), once if own[1:] else ONCE)


def section_names() -> list[str]:
    """The sections that settings have, in order."""
    return [one.name for one in fields(Settings) if one.name != "systems"]


def _require_named_files(finetune: FinetuneSettings) -> None:
    """Raise where negatives or a teacher are to be learned from and nothing gives them."""
    named = bool(finetune.negatives) or not finetune.n_negatives
    no_run = "0, unless finetune.negatives names a run or is bm25, or teacher.steps or epochs trains a teacher"
    require(named, "finetune.n_negatives", finetune.n_negatives, no_run)
    no_scores = "0, unless finetune.teacher names a file of scores, or teacher.steps or epochs trains a teacher"
    for name in ("margin_mse", "kl"):
        value = getattr(finetune, name)
        require(bool(finetune.teacher) or not value, f"finetune.{name}", value, no_scores)


def _require_room_for_the_teacher(finetune: FinetuneSettings) -> None:
    """Raise where a teacher is trained that fine-tuning would not hear, or that a file stands in the way of."""
    empty = "empty where teacher.steps or epochs trains a teacher, which writes that file itself"
    for name in ("negatives", "teacher"):
        require(not getattr(finetune, name), f"finetune.{name}", getattr(finetune, name), empty)
    least = "1 or more where teacher.steps or epochs trains a teacher: it scores a query's own document and these"
    require(finetune.n_negatives > 0, "finetune.n_negatives", finetune.n_negatives, least)
    weight = (
        "more than 0, or finetune.margin_mse, where teacher.steps or epochs trains a teacher: nothing else hears it"
    )
    require(finetune.kl > 0 or finetune.margin_mse > 0, "finetune.kl", finetune.kl, weight)


# The section classes by their names, in order.
SECTIONS: dict[str, type[Section]] = {
    one.name: cast(type[Section], one.default_factory) for one in fields(Settings) if one.name in section_names()
}
