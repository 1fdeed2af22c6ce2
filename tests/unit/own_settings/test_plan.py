"""How many steps fit into a time: the arithmetic of a pace that is given, by hand."""

import pytest

from lexigraft.core.errors import SettingError
from lexigraft.own_settings.plan import Pace, Work, at_length, plan

PACE = Pace(finetune_step=2.0, pretrain_step=1.0, validation=0.0, encode_document=0.01, read_document=0.0)
WORK = Work(pairs=12_800, batch=128, texts=10_000, pretrain_batch=64, documents=10_000)


def test_what_is_left_is_divided_between_pretraining_and_finetuning():
    # 1,000 s, of which 100 are gone and 100 are for encoding: .85 of 800 are 680, a sixth of them for pre-training
    found = plan(1000, 100, PACE, WORK)
    assert found.pretrain_steps == 113  # 680 / 6 = 113.3 s
    assert found.finetune_steps == 283  # 566.7 s
    assert found.passes == pytest.approx(2.83)
    assert found.seconds == {
        "spent before": 100, "pre-training": 113, "fine-tuning": 566, "encoding": 100, "indexing and measuring": 0,
    }  # fmt: skip
    assert found == plan(1000, 100, PACE, WORK)


def test_the_rest_is_in_proportion():
    found = plan(1000, 100, PACE, WORK)
    assert found.pretraining() == {"pretrain.steps": 113, "pretrain.warmup": 23, "pretrain.checkpoint_every": 57}
    assert found.finetuning() == {
        "finetune.steps": 283, "finetune.warmup": 19, "finetune.ramp": 75,
        "finetune.validate_every": 24, "finetune.checkpoint_every": 24,
    }  # fmt: skip
    assert "finetune.validate_every" not in found.finetuning(validates=False)


def test_validation_rows_and_reading_take_their_time():
    # encoding 100, and 10,000 x .001 to count; 5 rows x (10 + 1,000 x .002): 60. A tenth of
    # 680 * 5 / 6 is enough for 11 validations, of 5 s each
    pace = PACE._replace(validation=5.0, read_document=0.001)
    found = plan(1070, 100, pace, WORK._replace(rows=5, searches=1000))
    assert found.seconds["encoding"] == 110 and found.seconds["indexing and measuring"] == 60
    assert found.validations == 11
    assert found.finetune_steps == 255  # (680 * 5 / 6 - 55) / 2
    assert plan(1070, 100, pace._replace(validation=50.0), WORK).validations == 2  # one is a tenth of the time


def test_several_models_share_the_time():
    found = plan(1100, 100, PACE, WORK._replace(models=2))  # each encodes: 800 are left, 340 for each
    assert (found.pretrain_steps, found.finetune_steps) == (56, 141)


def test_pairs_are_never_seen_more_than_25_times():
    found = plan(1_000_000, 0, PACE, WORK)
    assert found.finetune_steps == 2500 and found.passes == 25
    assert found.pretrain_steps == 25 * 156


def test_without_pretraining_all_of_the_time_is_for_finetuning():
    found = plan(1000, 100, PACE, WORK._replace(pretrains=False))
    assert (found.pretrain_steps, found.finetune_steps) == (0, 340)


def test_the_pace_at_another_length_is_in_proportion():
    found = at_length(PACE._replace(validation=3.0, read_document=0.5), 2.0, 4.0)
    assert found == Pace(4.0, 4.0, 12.0, 0.04, 0.5)


def test_less_than_one_pass_is_refused_with_the_minutes_it_needs():
    # one pass: 100 steps are 200 s, with pre-training 240, with the margin 282.4; 200 s beside it: 8.04 minutes
    with pytest.raises(SettingError, match=r"minutes = 5 is too short.*12,800 training pairs.*about 8\.1 minutes"):
        plan(300, 100, PACE, WORK)
    assert plan(8.1 * 60, 100, PACE, WORK).passes >= 1
    assert plan(10, 100, PACE, WORK, fewest_passes=0).finetune_steps == 0
    with pytest.raises(SettingError, match="too short"):
        plan(8.0 * 60, 100, PACE, WORK)
