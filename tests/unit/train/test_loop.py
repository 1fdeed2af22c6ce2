"""The loop on a model of six weights: it resumes exactly, and only from a checkpoint of its own recipe."""

import logging

import pytest
import torch

from lexigraft.train.loop import Loop, Schedule, TrainingError, Validation, differences


class StoppedError(Exception):
    pass


def train(checkpoint, recipe, stop_at=None, poison_at=None, scores=None, rates=None, patience=0):
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

    loop = Loop(
        "test", Schedule(10, 0, 2, 0.1), checkpoint, checkpoint_every=4, recipe=recipe, seed=3, rates=rates or {}
    )

    def measure():
        return scores[model.weight.detach().sum().item()]

    validation = scores and Validation(measure, 2, "R@10", n_cases=100, patience=patience)
    training = loop.run(model, step_losses, validation)
    weights = torch.cat([parameter.detach().flatten() for parameter in model.parameters()]).tolist()
    return weights, training.history, training


def test_a_stopped_run_continues_to_the_same_weights(tmp_path):
    whole = train(tmp_path / "one", {"a": 1})
    with pytest.raises(StoppedError):
        train(tmp_path / "two", {"a": 1}, stop_at=6)
    assert train(tmp_path / "two", {"a": 1})[:2] == whole[:2]
    assert len(whole[1]) == 10


def test_a_run_that_is_asked_to_stop_keeps_what_it_has(tmp_path, monkeypatch):
    from lexigraft.core import stopping

    whole, asked = train(tmp_path / "one", {"a": 1}), iter([False, False, True])
    monkeypatch.setattr(stopping, "is_asked", lambda: next(asked))
    with pytest.raises(stopping.StoppedError, match="stopped after step 3; the next call goes on from there"):
        train(tmp_path / "two", {"a": 1})
    monkeypatch.undo()
    assert train(tmp_path / "two", {"a": 1}, stop_at=2)[:2] == whole[:2]  # step 2, the third, is not done again


def test_a_checkpoint_of_another_recipe_is_named_and_not_used(tmp_path, caplog):
    with pytest.raises(StoppedError):
        train(tmp_path / "two", {"parents": {"pretrained": "old"}, "a": 1}, stop_at=6)
    with caplog.at_level(logging.WARNING):
        found = train(tmp_path / "two", {"parents": {"pretrained": "new"}, "a": 1})
    assert "from other settings (parents.pretrained: old -> new); starting anew" in caplog.text
    assert found[:2] == train(tmp_path / "one", {})[:2]


def test_a_damaged_checkpoint_is_named_and_not_used(tmp_path, caplog):
    with pytest.raises(StoppedError):
        train(tmp_path / "two", {}, stop_at=6)
    (tmp_path / "two/state.pt").write_bytes(b"damaged")
    with caplog.at_level(logging.WARNING):
        found = train(tmp_path / "two", {})
    assert "state.pt has 7 bytes" in caplog.text
    assert found[:2] == train(tmp_path / "one", {})[:2]


def test_a_loss_that_is_not_finite_stops_and_keeps_the_checkpoint(tmp_path):
    with pytest.raises(TrainingError, match="the loss became nan at step 7; the weights of the last checkpoint are in"):
        train(tmp_path / "c", {}, poison_at=6)
    assert (tmp_path / "c/state.pt").is_file()


def test_gradients_that_are_not_finite_never_reach_a_checkpoint(tmp_path):
    model = torch.nn.Linear(2, 1)

    def step_losses(step):
        # At 0 the root has an infinite slope, and 0 * inf is not a number; the loss itself is fine.
        return {"loss": (model.weight.sum() * 0).sqrt() if step == 7 else model.weight.square().sum()}

    loop = Loop("test", Schedule(10, 0, 2, 0.1), tmp_path / "c", checkpoint_every=4, recipe={}, seed=3)
    with pytest.raises(TrainingError, match="the gradients became nan at step 8 or before; the weights of the last"):
        loop.run(model, step_losses)
    assert all(torch.isfinite(value).all() for value in torch.load(tmp_path / "c/state.pt")["model"].values())


def test_the_horizon_may_lie_beyond_the_last_step():
    assert [Schedule(4, 0, 2, 1.0).rate(step) for step in range(4)] == [0.5, 1.0, 1.0, 0.5]
    assert [Schedule(4, 10, 2, 1.0).rate(step) for step in (2, 3)] == [1.0, 0.875]


def test_differences():
    assert differences({"a": 1, "b": {"c": 2}}, {"a": 1, "b": {"c": 3}, "d": 4}) == "b.c: 2 -> 3, d: None -> 4"


class Rising:
    """Validation results by the order they are asked for; remembers the weights of the moment."""

    def __init__(self, results):
        self.results, self.seen = list(results), []

    def __getitem__(self, weights):
        self.seen.append(weights)
        return self.results[len(self.seen) - 1]


def test_the_best_weights_on_validation_are_kept_and_the_last_too(tmp_path):
    scores = Rising([0.1, 0.5, 0.5, 0.4, 0.3])
    weights, history, training = train(tmp_path / "c", {}, scores=scores)
    assert [step.get("R@10") for step in history] == [None, 0.1, None, 0.5, None, 0.5, None, 0.4, None, 0.3]
    assert training.best_step == 6  # the later of two equals; .4 is two standard errors below (.05 for 100 cases)
    assert sum(weights[:5]) == pytest.approx(scores.seen[2])
    assert float(training.last["weight"].sum()) == pytest.approx(scores.seen[4])
    assert training.last["weight"].flatten().tolist() != weights[:5]


def test_later_weights_are_kept_unless_they_are_clearly_worse(tmp_path):
    # sqrt(.94 * .06 / 100) = .0237: .92 is within it of .94, .91 is not, whatever came between
    assert train(tmp_path / "a", {}, scores=Rising([0.94, 0.92, 0.9, 0.92, 0.91]))[2].best_step == 8
    assert train(tmp_path / "b", {}, scores=Rising([0.94, 0.92, 0.9, 0.9, 0.92]))[2].last is None
    assert train(tmp_path / "c", {}, scores=Rising([0.2, 0.9, 1.0, 0.99, 0.99]))[2].best_step == 6  # no doubt about 1


def test_a_stopped_run_remembers_its_best_weights(tmp_path):
    whole = train(tmp_path / "one", {}, scores=Rising([0.9, 0.5, 0.5, 0.4, 0.3]))
    with pytest.raises(StoppedError):
        train(tmp_path / "two", {}, stop_at=6, scores=Rising([0.9, 0.5, 0.5]))
    again = train(tmp_path / "two", {}, scores=Rising([0.5, 0.4, 0.3]))  # from step 4 on
    assert (again[0], again[2].best_step) == (whole[0], 2)


def test_patience_ends_training_after_so_many_clearly_worse_results_in_a_row(tmp_path, caplog):
    # sqrt(.9 * .1 / 100) = .03
    scores = Rising([0.9, 0.5, 0.88, 0.5, 0.6])
    with caplog.at_level(logging.INFO):
        weights, history, training = train(tmp_path / "a", {}, scores=scores, patience=2)
    assert len(history) == 10 and training.best_step == 6  # .88 is good enough and begins the count anew
    assert "stopped" not in caplog.text
    scores = Rising([0.9, 0.5, 0.6, 0.9, 0.9])
    with caplog.at_level(logging.INFO):
        weights, history, training = train(tmp_path / "b", {}, scores=scores, patience=2)
    assert len(history) == 6 and training.best_step == 2
    assert "test: stopped after step 6 of 10: the last 2 validations were clearly worse than the best" in caplog.text
    assert sum(weights[:5]) == pytest.approx(scores.seen[0])
    assert float(training.last["weight"].sum()) == pytest.approx(scores.seen[2])
    assert len(train(tmp_path / "c", {}, scores=Rising([0.9, 0.5, 0.6, 0.5, 0.5]))[1]) == 10  # without patience


def test_a_killed_training_gives_up_at_the_same_step(tmp_path):
    whole = train(tmp_path / "one", {}, scores=Rising([0.9, 0.5, 0.6]), patience=2)
    with pytest.raises(StoppedError):
        train(tmp_path / "two", {}, stop_at=5, scores=Rising([0.9, 0.5]), patience=2)
    again = train(tmp_path / "two", {}, scores=Rising([0.6]), patience=2)  # from step 4 on
    assert len(again[1]) == 6 and again[:2] == whole[:2]
    assert again[2].best_step == whole[2].best_step == 2


def test_a_training_that_had_given_up_is_not_gone_on_with(tmp_path):
    train(tmp_path / "one", {}, scores=Rising([0.9, 0.5, 0.6, 0.5, 0.5]))  # leaves a checkpoint of step 8
    again = train(tmp_path / "one", {}, scores=Rising([]), patience=2)
    assert len(again[1]) == 8 and again[2].best_step == 2


def test_a_parameter_may_learn_at_its_own_rate(tmp_path):
    torch.manual_seed(0)
    start = torch.nn.Linear(5, 1)
    weights, _, _ = train(tmp_path / "c", {}, rates={"weight": 0.0})
    assert weights[:5] == start.weight.detach().flatten().tolist()
    assert weights[5:] != start.bias.detach().tolist()


def test_what_steps_remember_goes_on_where_it_stopped(tmp_path):
    def run(checkpoint, stop_at=None):
        torch.manual_seed(0)
        model, seen = torch.nn.Linear(2, 1), torch.zeros(2)

        def step_losses(step):
            if step == stop_at:
                raise StoppedError
            seen.add_(torch.rand(2))
            return {"loss": (model(seen) - 1).square().mean()}

        Loop("test", Schedule(10, 0, 2, 0.1), checkpoint, 4, {}, 3).run(model, step_losses, state={"seen": seen})
        return seen.tolist(), model.weight.tolist()

    with pytest.raises(StoppedError):
        run(tmp_path / "two", stop_at=6)
    assert run(tmp_path / "two") == run(tmp_path / "one")


def test_listeners_are_told_every_step_with_its_validation(tmp_path):
    told = []
    model = torch.nn.Linear(1, 1)
    listen = [lambda step, values: told.append((step, sorted(values)))]
    loop = Loop("test", Schedule(4, 0, 0, 0.1), tmp_path / "c", 9, {}, 0, listeners=listen)
    loop.run(model, lambda step: {"loss": model(torch.ones(1)).square().sum()}, Validation(lambda: 0.5, 2, "R@10", 9))
    assert told == [(1, ["loss"]), (2, ["R@10", "loss"]), (3, ["loss"]), (4, ["R@10", "loss"])]


def test_what_cannot_keep_its_step_ends_at_once(tmp_path):
    from lexigraft.core import stopping

    with pytest.raises(stopping.StoppedError, match="goes on with what is not done"):
        stopping._stop(15, None)
    with stopping.patience(False), pytest.raises(stopping.StoppedError):
        stopping._stop(15, None)
    try:
        with stopping.patience(True):
            stopping._stop(15, None)
        assert stopping.is_asked()
    finally:
        stopping._asked = False
