"""The systems of a run: BM25, the model of the run's own settings, and those that [systems] names."""

from dataclasses import dataclass, replace

from lexigraft.core.artifact import canonical_json
from lexigraft.core.config import settings_config, settings_of_system
from lexigraft.core.cut import DocumentCut
from lexigraft.core.settings import LEXICAL, Settings
from lexigraft.core.systems_table import KIND, MODEL

OWN_HOME, HOMES = "model", "models"
OF_PRETRAINING = ("backbone", "layers", "head", "graft", "inflate", "own_words", "document_length")  # of [model]


@dataclass(frozen=True)
class System:
    """`settings` are the run's, with what the system says in their place. `home` is the folder of its model in a run,
    and empty for BM25, which has none. `base`: that of the model whose vocabulary and pre-training it shares, where
    that is another one."""

    name: str
    settings: Settings
    home: str
    base: str = ""

    @property
    def is_model(self) -> bool:
        """Whether a learned model encodes its texts, and not BM25."""
        return bool(self.home)

    @property
    def prunings(self) -> tuple[tuple[DocumentCut, DocumentCut], ...]:
        """The (qk, dk) that it is measured at."""
        if not self.is_model:
            return self.settings.prune.lexical
        budgets = self.settings.prune.budgets
        if self.settings.model.queries == "words":  # terms that all weigh 1 have no heaviest to keep
            budgets = tuple(dict.fromkeys((0, dk) for _, dk in budgets))
        return budgets


def systems_of(settings: Settings) -> list[System]:
    """Those that `run.systems` names, which is no longer auto, in order. Models whose settings agree in all that comes
    before fine-tuning share it: it lies with the first of them."""
    found: list[System] = []
    homes: dict[str, str] = {}
    for system in (system_of(settings, name) for name in settings.run.systems):
        if system.is_model:
            first = homes.setdefault(_before_ranking(system.settings), system.home)
            system = replace(system, base=first if first != system.home else "")
        found.append(system)
    return found


def _before_ranking(settings: Settings) -> str:
    """The settings of vocabulary and pre-training, as one text."""
    model = settings_config(settings.model)
    parts = [settings_config(part) for part in (settings.vocab, settings.backbone, settings.mlm, settings.pretrain)]
    return canonical_json([*parts, {name: model[name] for name in OF_PRETRAINING}, settings.run.seed])


def system_of(settings: Settings, name: str) -> System:
    """The system of that name, which `run.systems` may hold."""
    if name in settings.systems:
        is_model = settings.systems[name][KIND] == MODEL
        return System(name, settings_of_system(settings, name), f"{HOMES}/{name}" if is_model else "")
    return System(name, settings, "" if name in LEXICAL else OWN_HOME)
