"""The settings that a run chooses for itself, in the time it is given; made once, kept with the run."""

import hashlib
import logging
from collections.abc import Mapping
from typing import Any

from lexigraft.core.artifact import canonical_json
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
from lexigraft.own_settings.choice import settings_of
from lexigraft.own_settings.given_time import GivenTime
from lexigraft.own_settings.kept import keep, kept
from lexigraft.stages.encode import searched_documents
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.few_steps import MADE_PASSES
from lexigraft.stages.layout import JUDGED

# The sections that training depends on: where one of them changes, everything is chosen anew.
LEARNED_BY = ("run", "data", "lexical", "vocab", "model", "backbone", "mlm", "pretrain", "teacher", "tilde", "finetune")
LABEL = "own settings"  # what the report calls the time that choosing takes

log = logging.getLogger(__name__)


def own_settings(
    settings: Settings,
    time: GivenTime | None,
    views: Mapping[str, Collection],
    split: str | None,
    artifacts: Ensurer,
    progress: Progress = SILENT,
) -> Settings:
    """`settings` with what the run chooses filled in, where a time is given and a model is trained; what the user set
    by hand stays. `run.systems` must not be auto any more; `split` is what will be measured.

    The choices are kept in the run's folder as soon as they are made: a later call of the same settings, data and
    minutes takes them from there and does not look at the clock.
    """
    models = [system for system in systems_of(settings) if system.is_model]
    if time is None:
        return settings
    if not models:
        log.info("--minutes: no model is trained, so there is nothing to choose")
        return settings
    made_of = _made_of(settings, time, views[JUDGED], split)
    found = kept(artifacts.run, made_of)
    if found is not None:
        log.info("settings: chosen before (%s)", artifacts.run.choices)
    else:
        with measured() as usage:
            found = _choose(settings, time, views, split, models, made_of, artifacts, progress)
        artifacts.record(LABEL, usage.seconds, usage.peak_rss_mib)
    artifacts.labels.append(LABEL)
    return with_values(settings, found)


def _choose(
    settings: Settings,
    time: GivenTime,
    views: Mapping[str, Collection],
    split: str | None,
    models: list[System],
    made_of: dict[str, Any],
    artifacts: Ensurer,
    progress: Progress,
) -> dict[str, Any]:
    from lexigraft.own_settings.choosing import Choosing
    from lexigraft.own_settings.plan import Work

    if n_processes() > 1:
        raise SettingError(
            "--minutes measures how fast one process trains, and several were started; leave --minutes out and set "
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
        shown = ", ".join(f"{name} = {value:g}" for name, value in choice.settings.items())
        log.info("%s: %s (%s)", choice.about, shown or "as set", choice.why)
    if is_leader():
        keep(artifacts.run, made_of, choices)
    return settings_of(choices)


def _made_of(settings: Settings, time: GivenTime, collection: Collection, split: str | None) -> dict[str, Any]:
    """All that the choices depend on, beside the machine and its clock."""
    parts = (CORPUS, QUERIES, *(split for split in (TRAIN, DEV) if split in collection.splits))
    told: dict[str, Any] = {name: settings_config(getattr(settings, name)) for name in LEARNED_BY}
    told["run"].pop("peers")  # which systems there are is said by their names
    told["systems"] = settings.systems
    if not settings.data.makes_pairs:
        del told["data"]["pairs"]  # choices from before this setting stay good
    return {
        "minutes": time.minutes,
        "by_hand": sorted(time.by_hand),
        "measured": split,
        "data": {part: collection.digest(part) for part in parts},
        "settings": hashlib.sha256(canonical_json(told).encode()).hexdigest(),
    }
