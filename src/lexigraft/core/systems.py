"""The systems of a run: BM25, the model of the run's own settings, those that [systems] names, and their peers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lexigraft.core.artifact import canonical_json
from lexigraft.core.config import settings_config, settings_of_system
from lexigraft.core.cut import DocumentCut
from lexigraft.core.errors import SettingError
from lexigraft.core.settings import BLEND, GRAFTED, Settings
from lexigraft.core.settings.finetune import MINED_BY_TEACHERS
from lexigraft.core.systems_table import BM25, DENSE, HYBRID, KIND, MODEL, usual_kind

OWN_HOME, HOMES = "model", "models"
OF_PRETRAINING = ("backbone", "layers", "head", "graft", "inflate", "own_words", "document_length")  # of [model]


@dataclass(frozen=True)
class System:
    """`settings` are the run's, with what the system says in their place. `home` is the folder of its model in a run,
    and empty for those that have none. `base`: that of the model whose vocabulary and pre-training it shares, where
    that is another one."""

    name: str
    settings: Settings
    home: str
    base: str = ""
    kind: str = MODEL

    @property
    def is_model(self) -> bool:
        """Whether a learned model writes its texts as weighted terms."""
        return self.kind == MODEL

    @property
    def asks_by_words(self) -> bool:
        """Whether it is a model that writes documents alone."""
        return self.is_model and self.settings.model.queries != "model"

    @property
    def is_sparse(self) -> bool:
        """Whether its texts are weighted terms, which an inverted index searches."""
        return self.kind in (MODEL, BM25, GRAFTED, BLEND)

    @property
    def learns(self) -> bool:
        """Whether it is trained on judged pairs."""
        return self.kind in (MODEL, DENSE)

    @property
    def teachers(self) -> tuple[str, ...]:
        """The systems that it learns from: none of what is no model of terms."""
        return self.settings.finetune.teachers if self.is_model else ()

    @property
    def trained_part(self) -> str:
        """What its trained model is called in its home."""
        return "encoder" if self.kind == DENSE else "finetuned"

    @property
    def prunings(self) -> tuple[tuple[DocumentCut, DocumentCut], ...]:
        """The (qk, dk) that it is measured at; none of what has no terms."""
        if not self.is_sparse:
            return ()
        if not self.is_model:
            return self.settings.prune.lexical
        budgets = self.settings.prune.budgets
        if self.settings.model.queries == "words":  # terms that all weigh 1 have no heaviest to keep
            budgets = tuple(dict.fromkeys((0, dk) for _, dk in budgets))
        return budgets


def systems_of(settings: Settings) -> list[System]:
    """Those that `run.systems` names, which is no longer auto, in order. Models whose settings agree in all that comes
    before fine-tuning share it: it lies with the first of them; a dense system shares the backbone of theirs."""
    found: list[System] = []
    homes: dict[str, str] = {}
    for system in (system_of(settings, name) for name in settings.run.systems):
        if system.is_model:
            first = homes.setdefault(_before_ranking(system.settings), system.home)
            system = replace(system, base=first if first != system.home else "")
        found.append(system)
    _require_parts(found)
    return [
        replace(one, base=homes.get(_before_ranking(one.settings), "")) if one.kind == DENSE else one for one in found
    ]


def _require_parts(systems: Sequence[System]) -> None:
    """Raise where peers have no system of terms beside them, a blend has not what it is made of, or a hybrid names
    something else than two of the run."""
    if not any(one.is_sparse for one in systems):
        raise SettingError(
            f"run.systems = {[one.name for one in systems]} has peers alone; add what they are compared with, such as "
            f"{BM25}"
        )
    grafts = any(one.kind == GRAFTED for one in systems)
    if grafts and not any(one.name == BM25 for one in systems):
        raise SettingError(
            f"run.systems = {[one.name for one in systems]}: {GRAFTED} adds to the words of {BM25}; name that, too"
        )
    blends = any(one.kind == BLEND for one in systems)
    if blends and not (any(one.kind == BM25 for one in systems) and any(one.asks_by_words for one in systems)):
        raise SettingError(
            f"run.systems = {[one.name for one in systems]}: {BLEND} needs {BM25} and a model whose queries need none; "
            "name both, and set model.queries to table or words"
        )
    allowed = [one.name for one in systems if one.kind != HYBRID]
    for system in (one for one in systems if one.kind == HYBRID):
        of = system.settings.hybrid.of
        if of and (len(set(of)) != 2 or len(of) != 2 or not set(of) <= set(allowed)):
            raise SettingError(
                f"{system.name} is a hybrid of {list(of)}, which is not allowed: two systems of the run, of "
                f"{', '.join(allowed)}"
            )


def in_order_of_training(systems: Sequence[System]) -> list[System]:
    """BM25 first, by whose cost models are steered; then those that learn, each after its teachers; at last what is
    blended of the others. Hybrids, which have no vectors of their own, are not among them."""
    placed = {system.name: system for system in systems if system.kind == BM25}
    waiting = [system for system in systems if system.learns]
    allowed = [*placed, *(system.name for system in waiting)]
    for system in waiting:
        if unknown := [name for name in system.teachers if name not in allowed]:
            raise SettingError(
                f"finetune.teachers of {system.name} names {unknown[0]!r}, which is no system of this run that has "
                f"vectors; those are {', '.join(allowed)}: add it to run.systems"
            )
        _require_lessons(system, {one.name: one for one in systems})
    while waiting:
        ready = [one for one in waiting if all(name in placed for name in one.teachers)]
        if not ready:
            circle = ", ".join(system.name for system in waiting)
            raise SettingError(f"finetune.teachers: {circle} wait for each other; one of them must have no teacher")
        placed[ready[0].name] = ready[0]
        waiting.remove(ready[0])
    return [*placed.values(), *(system for system in systems if system.kind == BLEND)]


def _require_lessons(pupil: System, systems: Mapping[str, System]) -> None:
    """Raise where a system cannot learn from its teachers, before any of them is trained."""
    finetune = pupil.settings.finetune
    if not pupil.teachers:
        return
    if pupil.settings.data.in_passages and finetune.hears:
        raise SettingError(
            "finetune.teachers score whole documents, and data.passage_words or passage_by cuts them into passages; "
            "leave one of the two out"
        )
    if BM25 not in systems and finetune.hears:
        raise SettingError(f"finetune.teachers are measured beside {BM25}; add it to run.systems")
    for teacher in (systems[name] for name in pupil.teachers if systems[name].learns):
        other = teacher.settings.finetune
        holds_out = other.validate_every > 0 and other.validation_queries >= finetune.validation_queries
        if finetune.validate_every and not holds_out:
            raise SettingError(
                f"{teacher.name} would train on queries by which {pupil.name}, its pupil, validates; give it "
                f"finetune.validate_every of more than 0 and finetune.validation_queries of at least "
                f"{finetune.validation_queries}"
            )


def _before_ranking(settings: Settings) -> str:
    """The settings of vocabulary and pre-training, as one text."""
    model = settings_config(settings.model)
    parts = [settings_config(part) for part in (settings.vocab, settings.backbone, settings.mlm, settings.pretrain)]
    return canonical_json([*parts, {name: model[name] for name in OF_PRETRAINING}, settings.run.seed])


def system_of(settings: Settings, name: str) -> System:
    """The system of that name, which `run.systems` may hold."""
    if name in settings.systems:
        kind = str(settings.systems[name][KIND])
        own = settings_of_system(settings, name)
        says_itself = "teachers" in settings.systems[name].get("finetune", {})
        own = own if says_itself or name not in settings.finetune.teachers else _without_teachers(own)
        return System(name, own, _home(name, kind), kind=kind)
    if name == BLEND:  # it is asked by words, whatever its model can do
        return System(name, replace(settings, model=replace(settings.model, queries="words")), "", kind=BLEND)
    kind = usual_kind(name) or MODEL
    if name in settings.finetune.teachers:
        settings = _without_teachers(settings)
    return System(name, settings, OWN_HOME if kind == MODEL else _home(name, kind), kind=kind)


def _without_teachers(settings: Settings) -> Settings:
    """The settings of a system that all others learn from, and so not itself: it learns from judgements."""
    told = settings.finetune
    in_batch = told.in_batch or (0.0 if told.kl or told.margin_mse else 1.0)
    mined = told.negatives == MINED_BY_TEACHERS
    negatives, n_negatives = ("", 0) if mined else (told.negatives, told.n_negatives)
    finetune = replace(told, teachers=(), in_batch=in_batch, negatives=negatives, n_negatives=n_negatives)
    return replace(settings, finetune=finetune)


def _home(name: str, kind: str) -> str:
    return f"{HOMES}/{name}" if kind in (MODEL, DENSE) else ""
