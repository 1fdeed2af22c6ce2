"""Steering the regularisers to a cost."""

import math
from itertools import pairwise

import pytest
import torch

from lexigraft.train.ranking import cost_control
from lexigraft.train.ranking.cost_control import LARGEST, CostControl, batch_cost

CPU = torch.device("cpu")


def test_cost_of_a_batch_by_hand():
    queries = torch.tensor([[1.0, 0.5, 0.0], [0.0, 2.0, 0.0]])
    documents = torch.tensor([[3.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    # Query 0 shares a term with document 1, two with document 2; query 1 none with document 0, one with document 2.
    assert float(batch_cost(queries, documents)) == pytest.approx((1 + 2 + 0 + 1) / 4)


def test_cost_against_all_pairs():
    generator = torch.Generator().manual_seed(1)
    queries, documents = ((torch.rand(n, 40, generator=generator) - 0.7).relu() for n in (7, 11))
    pairs = [int(((queries[q] > 0) & (documents[d] > 0)).sum()) for q in range(7) for d in range(11) if d != q]
    assert float(batch_cost(queries, documents)) == pytest.approx(sum(pairs) / len(pairs))


def test_one_query_alone_costs_nothing():
    assert float(batch_cost(torch.ones(1, 3), torch.ones(1, 3))) == 0


def test_the_factor_rises_while_it_costs_too_much_and_falls_while_it_costs_less():
    control = CostControl(0.1, 10, CPU)
    assert float(control.factor) == 1
    control.see(torch.tensor(0.2), 9)
    above = float(control.factor)
    assert above == pytest.approx(math.exp(0.03 * math.log(2)))
    for step in range(10, 70):
        control.see(torch.tensor(0.01), step)
    assert float(control.factor) < above


def test_the_aim_comes_down_and_arrives_half_way(monkeypatch):
    """A cost that stays where it was: nothing is pressed at first, then more and more."""
    monkeypatch.setattr(cost_control, "LARGEST", 10.0)
    control = CostControl(0.1, 100, CPU)
    factors = []
    for step in range(100):
        control.see(torch.tensor(0.8), step)
        factors.append(float(control.factor))
    changes = [math.log(after / before) for before, after in pairwise(factors)]
    assert factors[0] == 1
    assert changes[9] == pytest.approx(0.03 * math.log(8) * 10 / 50, rel=1e-4)
    assert changes[59] == pytest.approx(0.03, rel=1e-4)  # the most that one step changes


def test_the_factor_is_bounded():
    control = CostControl(0.1, 10, CPU)
    for step in range(2000):
        control.see(torch.tensor(100.0), step)
    assert float(control.factor) == pytest.approx(math.exp(LARGEST))


def test_a_system_that_answers_pressure_settles_at_its_aim():
    control, cost = CostControl(0.08, 1500, CPU), 4.0
    for step in range(1500):  # the more pressure, the cheaper, with a lag as training has one
        cost += 0.05 * (0.12 / float(control.factor) - cost)
        control.see(torch.tensor(cost), step)
    assert cost == pytest.approx(0.08, rel=0.05)


def test_its_state_goes_on_where_it_was():
    first, second = CostControl(0.1, 10, CPU), CostControl(0.1, 10, CPU)
    first.see(torch.tensor(0.3), 0)
    for name, value in first.state().items():
        second.state()[name].copy_(value)
    first.see(torch.tensor(0.2), 1)
    second.see(torch.tensor(0.2), 1)
    assert float(first.factor) == float(second.factor)
