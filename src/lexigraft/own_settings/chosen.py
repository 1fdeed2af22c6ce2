"""The settings that a run chooses for itself, in the time it is given; made once, kept with the run."""

import hashlib
import logging
from collections.abc import Mapping
from typing import Any

from lexigraft.core.artifact import canonical_json, read_manifest
from lexigraft.core.config import settings_config, with_values
from lexigraft.core.errors import SettingError
from lexigraft.core.processes import is_leader, n_processes
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.resources import measured
from lexigraft.core.settings import Settings
from lexigraft.core.systems import System, systems_of
from lexigraft.data.collection import CORPUS, QUERIES, Collection
from lexigraft.learn.model_training import ModelTraining
from lexigraft.learn.training_data import DEV, TRAIN
from lexigraft.own_settings.choice import Choice, models_in, settings_of
from lexigraft.own_settings.given_time import GivenTime
from lexigraft.own_settings.kept import keep, kept
from lexigraft.own_settings.left_out import left_out
from lexigraft.own_settings.plan import TooShortError
from lexigraft.stages.encode import searched_documents
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.few_steps import MADE_PASSES
from lexigraft.stages.layout import JUDGED
from lexigraft.stages.report import values_in_words

# The sections that training depends on: where one of them changes, everything is chosen anew.
LEARNED_BY = ("run", "data", "lexical", "vocab", "model", "backbone", "mlm", "pretrain", "teacher", "tilde", "finetune")
LATER = (
    ("data", "pairs"), ("model", "graft"), ("model", "calibrate"), ("finetune", "teachers"), ("finetune", "taught"),
)  # fmt: skip
LEAST = 30.0  # seconds: to learn the vocabulary, and to look at the pace of training
LABEL = "own settings"  # what the report calls the time that choosing takes

log = logging.getLogger(__name__)


def own_settings(
    settings: Settings,
    time: GivenTime | None,
    views: Mapping[str, Collection],
    split: str | None,
    artifacts: Ensurer,
    progress: Progress = SILENT,
) -> tuple[Settings, list[Choice]]:
    """`settings` with what the run chooses filled in, where a time is given and a model is trained; what the user set
    by hand stays. `run.systems` must not be auto any more; `split` is what will be measured. Models for which the time
    is too short are left out; what is to be said of that is returned beside the settings.

    The choices are kept in the run's folder as soon as they are made: a later call of the same settings, data and
    minutes takes them from there and does not look at the clock.
    """
    models = [system for system in systems_of(settings) if system.is_model]
    if time is None or not models:
        return settings, []
    made_of = _made_of(settings, time, views[JUDGED], split)
    waiting, found = models, kept(artifacts.run, made_of)
    if found is not None:
        waiting = [one for one in models if read_manifest(artifacts.run.of(one).model(one.trained_part)) is None]
        log.info("settings: chosen before (%s)", artifacts.run.choices)
    else:
        try:
            _require_time_to_look(time)
            with measured() as usage:
                found = _choose(settings, time, views, split, models, made_of, artifacts, progress)
        except TooShortError as error:
            less = left_out(settings, time, [one.name for one in models], error.reason)
            if less is None:  # there is no other system that could be searched
                raise
            artifacts.run.choices.unlink(missing_ok=True)  # of another call
            return less[0], [less[1]]
        artifacts.record(LABEL, usage.seconds, usage.peak_rss_mib)
    artifacts.labels.append(LABEL)
    return _with_first(with_values(settings, settings_of(found)), time, waiting, models_in(found))


def _with_first(settings: Settings, time: GivenTime, waiting: list[System], most: int) -> tuple[Settings, list[Choice]]:
    """The settings with so many of the models that wait to be trained, the first ones: the next call of the same
    command trains others."""
    gone = [one.name for one in waiting[most:]]
    if not gone:
        return settings, []
    why = f"the time is enough for one pass of {most} of {len(waiting)} models, the first"
    less = left_out(settings, time, gone, why)
    assert less is not None, "a model stays"
    return less[0], [less[1]]


def _require_time_to_look(time: GivenTime) -> None:
    if time.left < LEAST and not time.steps_by_hand:
        raise TooShortError(time.minutes, f"{max(0.0, time.left):.0f} s of the time were left to begin to train")


def _choose(
    settings: Settings,
    time: GivenTime,
    views: Mapping[str, Collection],
    split: str | None,
    models: list[System],
    made_of: dict[str, Any],
    artifacts: Ensurer,
    progress: Progress,
) -> list[Choice]:
    from lexigraft.own_settings.choosing import Choosing
    from lexigraft.own_settings.plan import Work

    if n_processes() > 1:
        raise SettingError(
            "minutes measures how fast one process trains, and several were started; leave minutes out and set "
            "finetune.steps and the lengths, or begin the run with one process"
        )
    first = models[0]
    # Its labels are not the report's: the stages themselves will say what they kept.
    training = ModelTraining(
        views[JUDGED], split, artifacts.run.of(first), first.settings, Ensurer(artifacts.run, None).of(first), progress
    )
    training.vocabulary()
    backbone = training.language_model()
    work = Work(
        pairs=0, batch=0, texts=0, pretrain_batch=settings.pretrain.batch,
        documents=sum(1 for view in views.values() for _ in searched_documents(view, settings.data, SILENT)),
        models=len(models),
        rows=sum(len(system.prunings) for system in systems_of(settings)),
        searches=settings.evaluate.timing_queries * settings.evaluate.timing_runs if split is not None else 0,
        most_passes=MADE_PASSES if settings.data.makes_pairs else 0,
    )  # fmt: skip
    choosing = Choosing(views[JUDGED], split, first.settings, time, training.folder, backbone, work)
    choices = [choice.without(time.by_hand) for choice in choosing.choices()]
    for choice in choices:
        log.info("%s: %s (%s)", choice.about, values_in_words(choice.settings) or "as set", choice.why)
    if is_leader():
        keep(artifacts.run, made_of, choices)
    return choices


def _made_of(settings: Settings, time: GivenTime, collection: Collection, split: str | None) -> dict[str, Any]:
    """All that the choices depend on, beside the machine and its clock."""
    parts = (CORPUS, QUERIES, *(split for split in (TRAIN, DEV) if split in collection.splits))
    return {
        "minutes": time.minutes,
        "by_hand": sorted(time.by_hand),
        "measured": split,
        "data": {part: collection.digest(part) for part in parts},
        "settings": digest_of(settings),
    }


def digest_of(settings: Settings) -> str:
    """Of all that decides how a model learns; settings that came later count where they are not as usual."""
    told: dict[str, Any] = {name: settings_config(getattr(settings, name)) for name in LEARNED_BY}
    told["run"].pop("peers")
    told["run"]["systems"] = [one.name for one in systems_of(settings) if one.is_sparse]  # others take none of it
    told["systems"] = settings.systems
    usual = Settings()
    for section, name in LATER:
        if getattr(getattr(settings, section), name) == getattr(getattr(usual, section), name):
            del told[section][name]
    return hashlib.sha256(canonical_json(told).encode()).hexdigest()
