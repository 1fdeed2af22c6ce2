"""The plan of the variants that are trained side by side: what it means, and in which order it can be trained."""

import argparse
from pathlib import Path

import pytest

from bench.variants import Trainings
from lexigraft.core.config import load_settings
from lexigraft.core.systems import in_order_of_training, systems_of

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def trainings(tmp_path_factory):
    return Trainings(
        argparse.Namespace(
            plan=ROOT / "bench/ceiling/plan.toml", work=tmp_path_factory.mktemp("work"), data=Path("DATA"),
            backbone="BACKBONE", recipe=str(ROOT / "bench/cost/every.toml"), jobs=2, minutes=1.0,
            skip=["debian-0-teach"],
        )
    )  # fmt: skip


def test_every_command_of_the_plan_has_settings_that_are_allowed(trainings):
    """The last system to be trained is the variant itself, after its teachers."""
    for variant in trainings.plan.variants:
        command = trainings.command(variant, Path("RUN"))
        changes = [command[at + 1] for at, word in enumerate(command) if word == "--set"]
        settings = load_settings(ROOT / command[command.index("--config") + 1], changes, trainings.options.recipe)
        systems = systems_of(settings)
        *others, last = in_order_of_training(systems) if "kind=hybrid" not in variant.settings else systems
        assert last.name == variant.name
        assert sorted(one.name for one in others) == sorted(["bm25", *variant.before])
        assert last.settings.run.seed == (int(f"10{variant.seed}") if variant.name == "second" else variant.seed)


def test_teachers_come_first_and_what_is_shared_is_waited_for(trainings):
    taught = next(one for one in trainings.plan.variants if one.name == "teach")
    assert taught.folder == "debian-0-teach" and taught not in trainings.jobs  # left out by --skip
    shared = next(one for one in trainings.plan.variants if one.name == "looked_up")
    assert not trainings.is_ready(taught) and not trainings.is_ready(shared)
    for name in taught.before:
        trainings.of(taught, name).state = "done"
    (trainings.pretrained(shared) / "pretrained").mkdir(parents=True)
    (trainings.pretrained(shared) / "pretrained/manifest.json").write_text("{}")
    assert trainings.is_ready(taught) and trainings.is_ready(shared)


def test_a_backbone_goes_on_from_another_before_what_is_trained_of_it(trainings):
    general, own = (next(one for one in trainings.plan.backbones if one.name == name) for name in ("general", "tldr"))
    of_it = next(one for one in trainings.plan.variants if one.folder == "tldr-1-mlm")
    assert trainings.is_ready(general) and not trainings.is_ready(own) and not trainings.is_ready(of_it)
    general.state = "done"
    assert trainings.is_ready(own) and not trainings.is_ready(of_it)
    assert str(trainings.options.work / "backbone-general") in trainings.backbone_command(own)
    own.state = "done"
    assert trainings.is_ready(of_it)
    assert f"systems.mlm.model.backbone={trainings.options.work / 'backbone-tldr'}" in trainings.command(
        of_it, Path("RUN")
    )


def test_what_failed_is_tried_again_and_not_for_ever(trainings):
    job = trainings.jobs[-1]
    for failures, state in ((1, "waiting"), (3, "failed")):
        job.state, job.failures = "failed", failures
        trainings.try_again()
        assert job.state == state
