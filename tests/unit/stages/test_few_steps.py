"""Made pairs train one pass, unless somebody says otherwise."""

import pytest

from lexigraft.core.config import load_settings
from lexigraft.stages.few_steps import with_few_steps


@pytest.mark.parametrize(
    ("n_pairs", "steps", "validate_every"), [(3200, 100, 50), (640, 20, 10), (1_000_000, 150, 75), (10, 1, 1)]
)
def test_one_pass_and_no_more_steps_than_usual(n_pairs, steps, validate_every):
    found = with_few_steps(load_settings(), n_pairs).finetune
    assert (found.steps, found.batch, found.validate_every) == (steps, 32, validate_every)


@pytest.mark.parametrize("said", [{"finetune.steps": 10}, {"finetune.epochs": 3}, {"finetune.batch": 64}])
def test_what_is_said_stays(said):
    settings = load_settings(values=said)
    assert with_few_steps(settings, 3200) == settings


def test_without_validation_there_is_none():
    assert with_few_steps(load_settings(values={"finetune.validate_every": 0}), 3200).finetune.validate_every == 0
