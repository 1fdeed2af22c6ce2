"""The loop on a model of six weights: it resumes exactly, and only from a checkpoint of its own recipe."""

import logging

import pytest
import torch

from lexigraft.train.loop import Loop, Schedule, TrainingError, differences


class StoppedError(Exception):
    pass


def train(checkpoint, recipe, stop_at=None, poison_at=None):
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 1)

    def step_losses(step):
        if step == stop_at:
            raise StoppedError
        noise = torch.rand(8, 5)  # seeded by the step
        return {
            "loss": (model(noise) - noise.sum(1, keepdim=True)).square().mean()
            * (float("nan") if step == poison_at else 1)
        }

    loop = Loop("test", Schedule(10, 0, 2, 0.1), checkpoint, checkpoint_every=4, recipe=recipe, seed=3)
    history = loop.run(model, step_losses)
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()]).tolist(), history


def test_a_stopped_run_continues_to_the_same_weights(tmp_path):
    whole = train(tmp_path / "one", {"a": 1})
    with pytest.raises(StoppedError):
        train(tmp_path / "two", {"a": 1}, stop_at=6)
    assert train(tmp_path / "two", {"a": 1}) == whole
    assert len(whole[1]) == 10


def test_a_checkpoint_of_another_recipe_is_named_and_not_used(tmp_path, caplog):
    with pytest.raises(StoppedError):
        train(tmp_path / "two", {"parents": {"pretrained": "old"}, "a": 1}, stop_at=6)
    with caplog.at_level(logging.WARNING):
        found = train(tmp_path / "two", {"parents": {"pretrained": "new"}, "a": 1})
    assert "from other settings (parents.pretrained: old -> new); starting anew" in caplog.text
    assert found == train(tmp_path / "one", {})


def test_a_loss_that_is_not_finite_stops_and_keeps_the_checkpoint(tmp_path):
    with pytest.raises(TrainingError, match="the loss became nan at step 7; the weights of the last checkpoint are in"):
        train(tmp_path / "c", {}, poison_at=6)
    assert (tmp_path / "c/state.pt").is_file()


def test_the_horizon_may_lie_beyond_the_last_step():
    assert [Schedule(4, 0, 2, 1.0).rate(step) for step in range(4)] == [0.5, 1.0, 1.0, 0.5]
    assert [Schedule(4, 10, 2, 1.0).rate(step) for step in (2, 3)] == [1.0, 0.875]


def test_differences():
    assert differences({"a": 1, "b": {"c": 2}}, {"a": 1, "b": {"c": 3}, "d": 4}) == "b.c: 2 -> 3, d: None -> 4"
