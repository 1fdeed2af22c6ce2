"""Drawing hard negatives and the losses over them, against slow and obvious twins."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.learn.hard_negatives import first_unjudged
from lexigraft.train.batches import steps_of_passes, warmup_within
from lexigraft.train.ranking.losses import distillation_loss, in_batch_loss, margin_mse_loss
from lexigraft.train.ranking.negatives import HardNegatives, draw
from lexigraft.train.ranking.pairs import with_negatives

RAGGED = st.lists(st.lists(st.integers(0, 50), max_size=6, unique=True), min_size=1, max_size=6)


def hard_negatives(lists):
    rows = [row for each in lists for row in each]
    scores = np.array(rows, np.float32) / 2
    return HardNegatives(np.cumsum([0, *map(len, lists)]), np.array(rows, np.int64), scores)


def draw_slowly(lists, queries, n, chances):
    """Floyd's sampling as it is told: one query at a time."""
    drawn = []
    for number, query in enumerate(queries):
        count, chosen = len(lists[query]), []
        for place in range(min(n, count)):
            last = count - min(n, count) + place
            one = int(chances[place, number] * (last + 1))
            chosen.append(last if one in chosen else one)
        drawn.append([lists[query][place] for place in chosen] + [-1] * (n - len(chosen)))
    return drawn


@given(RAGGED, st.data(), st.integers(1, 5), st.integers(0, 1000))
def test_draw(lists, data, n, seed):
    queries = data.draw(st.lists(st.integers(0, len(lists) - 1), min_size=1, max_size=8))
    rows, scores = draw(hard_negatives(lists), np.array(queries), n, np.random.default_rng(seed))
    assert rows.tolist() == draw_slowly(lists, queries, n, np.random.default_rng(seed).random((n, len(queries))))
    assert (np.isnan(scores) == (rows < 0)).all()
    assert (scores[rows >= 0] == rows[rows >= 0] / 2).all()
    for query, found in zip(queries, rows.tolist(), strict=True):
        real = [row for row in found if row >= 0]
        assert len(real) == len(set(real)) == min(n, len(lists[query]))
        assert set(real) <= set(lists[query])


def test_every_set_is_drawn_as_often_as_every_other():
    n_draws = 6000
    rows, _ = draw(hard_negatives([[0, 1, 2, 3]]), np.zeros(n_draws, np.int64), 2, np.random.default_rng(0))
    _, counts = np.unique(np.sort(rows, axis=1), axis=0, return_counts=True)
    assert len(counts) == 6
    assert np.abs(counts - n_draws / 6).max() < 5 * math.sqrt(n_draws / 6)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=6),
    st.integers(0, 3).flatmap(lambda n: st.lists(st.lists(st.integers(-1, 12), min_size=n, max_size=n), min_size=1)),
)
def test_negatives_follow_the_own_documents_each_once(documents, drawn):
    columns, places = with_negatives(np.array(documents), np.array(drawn, np.int64))
    assert columns[: len(documents)].tolist() == documents
    further = columns[len(documents) :].tolist()
    assert further == sorted({row for rows in drawn for row in rows if row >= 0} - set(documents))
    for rows, found in zip(drawn, places.tolist(), strict=True):
        assert [-1 if place < 0 else columns[place] for place in found] == rows


SCORES = st.floats(-20, 20, width=32)


def log_softmax(values):
    top = max(values)
    return [value - top - math.log(sum(math.exp(other - top) for other in values)) for value in values]


@st.composite
def batches(draw_):
    n, further = draw_(st.integers(1, 4)), draw_(st.integers(0, 3))
    cells = st.lists(SCORES, min_size=n + further, max_size=n + further)
    marks = st.lists(st.booleans(), min_size=n + further, max_size=n + further)
    rows = draw_(st.lists(cells, min_size=n, max_size=n))
    return rows, draw_(st.lists(marks, min_size=n, max_size=n))


@given(batches(), st.sampled_from([0.5, 1.0, 3.0]), st.sampled_from([0.0, 2.0]), st.booleans())
def test_in_batch_loss(batch, temperature, margin, symmetric):
    rows, relevant = batch

    def slow(n_rows, cell, is_left_out, n_columns):
        total = 0.0
        for i in range(n_rows):
            others = [j for j in range(n_columns) if j != i and not is_left_out(i, j)]
            total -= log_softmax([(cell(i, i) - margin) / temperature, *(cell(i, j) / temperature for j in others)])[0]
        return total / n_rows

    expected = slow(len(rows), lambda i, j: rows[i][j], lambda i, j: relevant[i][j], len(rows[0]))
    if symmetric:
        expected += slow(len(rows), lambda i, j: rows[j][i], lambda i, j: relevant[j][i], len(rows))
        expected /= 2
    found = in_batch_loss(torch.tensor(rows), torch.tensor(relevant), temperature, symmetric, margin)
    assert found.item() == pytest.approx(expected, rel=1e-4, abs=1e-4)


TAUGHT = st.integers(1, 4).flatmap(
    lambda n: st.lists(
        st.lists(st.tuples(SCORES, st.none() | SCORES), min_size=n + 1, max_size=n + 1), min_size=1, max_size=5
    )
)


@given(TAUGHT)
def test_margin_mse_and_distillation(rows):
    errors, divergences = [], []
    for row in rows:
        (own, own_taught), *negatives = row
        errors += [
            ((own - score) - (own_taught - taught)) ** 2
            for score, taught in negatives
            if own_taught is not None and taught is not None
        ]
        known = [(score, taught) for score, taught in row if taught is not None]
        if len(known) > 1:
            found, aim = log_softmax([score for score, _ in known]), log_softmax([taught for _, taught in known])
            divergences.append(sum(math.exp(a) * (a - f) for f, a in zip(found, aim, strict=True)))
    scores = torch.tensor([[score for score, _ in row] for row in rows], requires_grad=True)
    teacher = torch.tensor([[float("nan") if taught is None else taught for _, taught in row] for row in rows])
    mse, divergence = margin_mse_loss(scores, teacher), distillation_loss(scores, teacher)
    assert mse.item() == pytest.approx(sum(errors) / max(1, len(errors)), rel=1e-4, abs=1e-4)
    assert divergence.item() == pytest.approx(sum(divergences) / max(1, len(divergences)), rel=1e-4, abs=1e-4)
    (mse + divergence).backward()
    assert scores.grad.isfinite().all()


RANKED = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), max_size=25)


@given(RANKED, RANKED, st.integers(1, 4))
def test_the_highest_documents_that_are_not_judged(ranked, judged, depth):
    ranked = sorted(ranked, key=lambda pair: pair[0])
    expected, seen, counts = [], set(judged), dict.fromkeys(range(4), 0)
    for place, pair in enumerate(ranked):
        if pair not in seen and counts[pair[0]] < depth:
            counts[pair[0]] += 1
            expected.append(place)
        seen.add(pair)
    queries, documents = np.array(ranked, np.int64).reshape(-1, 2).T
    unknown = np.array([(0, -1), *judged], np.int64)  # a judged document that the run does not name
    assert first_unjudged(queries, documents, unknown, depth).tolist() == expected


@pytest.mark.parametrize(
    ("epochs", "rows", "batch", "steps"), [(10, 30, 64, 10), (5, 100, 1024, 5), (1.5, 50, 8, 9), (0.001, 50, 8, 1)]
)
def test_passes_are_counted_as_the_steps_go_through_the_rows(epochs, rows, batch, steps):
    assert steps_of_passes(epochs, rows, batch) == steps
    assert warmup_within(10_000, steps) == steps // 10
    assert warmup_within(0, steps) == 0
