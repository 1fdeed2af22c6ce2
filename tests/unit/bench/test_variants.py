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
        )
    )  # fmt: skip


def test_every_command_of_the_plan_has_settings_that_are_allowed(trainings):
    """The last system to be trained is the variant itself, after its teachers."""
    for variant in trainings.variants:
        command = trainings.command(variant, Path("RUN"))
        changes = [command[at + 1] for at, word in enumerate(command) if word == "--set"]
        settings = load_settings(ROOT / command[command.index("--config") + 1], changes, trainings.options.recipe)
        *others, last = in_order_of_training(systems_of(settings))
        assert last.name == variant.name
        assert [one.name for one in others] == ["bm25", *variant.teachers]
        assert last.settings.run.seed == (int(f"10{variant.seed}") if variant.name == "second" else variant.seed)


def test_teachers_come_first_and_what_is_shared_is_waited_for(trainings):
    taught = next(one for one in trainings.variants if one.name == "teach")
    shared = next(one for one in trainings.variants if one.name == "looked_up")
    assert not trainings.is_ready(taught) and not trainings.is_ready(shared)
    for name in taught.teachers:
        trainings.of(taught, name).state = "done"
    (trainings.pretrained(shared) / "pretrained").mkdir(parents=True)
    (trainings.pretrained(shared) / "pretrained/manifest.json").write_text("{}")
    assert trainings.is_ready(taught) and trainings.is_ready(shared)
