"""Sampled softmax: as its slow twin, as the full softmax where all classes are drawn, and close to it on average."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.train.language import linear_cross_entropy as blocks
from lexigraft.train.language.linear_cross_entropy import linear_cross_entropy_naive
from lexigraft.train.language.sampled_classes import ClassSampler, DrawnClasses, drawing_weights, inclusion_chances
from lexigraft.train.language.sampled_cross_entropy import sampled_cross_entropy, sampled_cross_entropy_naive


def case(rows, classes, width, seed, dtype=torch.float64):
    torch.manual_seed(seed)
    shapes = (rows, width), (classes, width), (classes,)
    parts = [torch.randn(shape, dtype=dtype).requires_grad_() for shape in shapes]
    return parts, torch.randint(0, classes, (rows,))


def outcome(function, parts, labels, *drawn, factor=1.0):
    for part in parts:
        part.grad = None
    hidden, weight, bias = parts
    found = function(hidden, labels, weight, bias, *drawn)
    (found.loss * factor).backward()
    return found.loss.detach(), found.accuracy, *(part.grad for part in parts)


counts_of = st.lists(st.integers(0, 1000), min_size=1, max_size=12).map(lambda some: np.array(some, np.int64))


@settings(max_examples=40)
@given(
    st.integers(1, 9), counts_of, st.integers(1, 12), st.integers(0, 99), st.integers(1, 40), st.sampled_from([1, -2])
)
def test_as_the_twin_whatever_is_drawn_and_however_in_blocks(rows, counts, n_drawn, seed, budget, factor):
    parts, labels = case(rows, len(counts), 3, seed)
    drawn = ClassSampler(counts, n_drawn, seed).draw(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "CPU_LOGITS", budget)
        found = outcome(sampled_cross_entropy, parts, labels, drawn, factor=factor)
    wanted = outcome(sampled_cross_entropy_naive, parts, labels, drawn, factor=factor)
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-9)


@settings(max_examples=40)
@given(st.integers(1, 9), counts_of, st.integers(0, 99))
def test_with_all_classes_drawn_it_is_the_full_softmax(rows, counts, seed):
    parts, labels = case(rows, len(counts), 3, seed)
    drawn = ClassSampler(counts, len(counts), seed).draw(5)
    assert drawn.ids.tolist() == list(range(len(counts)))
    assert not drawn.log_chance.any()
    found = outcome(sampled_cross_entropy, parts, labels, drawn)
    wanted = outcome(linear_cross_entropy_naive, parts, labels)
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)


@given(counts_of, st.integers(1, 12))
def test_chances_add_up_to_the_number_drawn(counts, n_drawn):
    weights = drawing_weights(counts)
    chances = inclusion_chances(weights, n_drawn)
    assert chances.sum() == pytest.approx(min(n_drawn, len(counts)))
    assert ((chances > 0) & (chances <= 1 + 1e-12)).all()
    below = chances < 1  # those in proportion to their weights, and nobody heavier among them
    shares = chances[below] / weights[below]
    np.testing.assert_allclose(shares, shares.max(initial=0), rtol=1e-9)
    assert weights[~below].min(initial=np.inf) >= weights[below].max(initial=0) - 1e-12


@given(counts_of, st.integers(1, 12), st.integers(0, 99), st.integers(0, 99))
def test_so_many_different_classes_and_the_same_for_the_same_step(counts, n_drawn, seed, step):
    sampler = ClassSampler(counts, n_drawn, seed)
    ids, log_chance = sampler.draw(step)
    assert len(ids) == min(n_drawn, len(counts))
    assert (np.diff(ids) > 0).all()
    np.testing.assert_allclose(np.exp(log_chance), sampler.chances[ids], rtol=1e-6)
    assert ClassSampler(counts, n_drawn, seed).draw(step).ids.tolist() == ids.tolist()


def test_each_class_is_drawn_as_often_as_its_chance_says():
    sampler = ClassSampler(np.arange(40) ** 2, 10, seed=1)
    n_draws = 4000
    often = np.bincount(np.concatenate([sampler.draw(step).ids for step in range(n_draws)]), minlength=40)
    deviation = np.sqrt(n_draws * sampler.chances * (1 - sampler.chances))
    assert (np.abs(often - n_draws * sampler.chances) <= 4.5 * deviation + 1e-6).all()
    assert len({tuple(sampler.draw(step).ids) for step in range(20)}) > 15  # and not the same ones every time


def mean_errors(n_drawn, corrected, n_draws=200):
    """How far the mean over draws of each gradient is from that of the full softmax, as a share of its length."""
    parts, labels = case(32, 200, 8, seed=3)
    with torch.no_grad():
        parts[0].mul_(0.3)
    sampler = ClassSampler((1000 / np.arange(1, 201)).astype(np.int64), n_drawn, seed=0)
    full = outcome(linear_cross_entropy_naive, parts, labels)[2:]
    means = [torch.zeros_like(part) for part in full]
    for step in range(n_draws):
        ids, log_chance = sampler.draw(step)
        drawn = DrawnClasses(ids, log_chance if corrected else np.zeros_like(log_chance))
        for mean, gradient in zip(means, outcome(sampled_cross_entropy, parts, labels, drawn)[2:], strict=True):
            mean += gradient / n_draws
    return np.array([float((mean - wanted).norm() / wanted.norm()) for mean, wanted in zip(means, full, strict=True)])


def test_on_average_over_draws_the_gradient_is_nearly_the_full_one():
    few, more, uncorrected = mean_errors(60, True), mean_errors(120, True), mean_errors(60, False)
    assert (few < 0.07).all(), few
    assert (more < few).all(), (few, more)
    assert (uncorrected > 3 * few).all(), (few, uncorrected)  # it is the correction that does it


def test_under_autocast_products_alone_are_rounded():
    parts, labels = case(64, 500, 16, seed=2, dtype=torch.float32)
    drawn = ClassSampler(np.arange(500), 100, seed=0).draw(0)
    exact = outcome(sampled_cross_entropy, parts, labels, drawn)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = outcome(sampled_cross_entropy, parts, labels, drawn)
    assert [part.dtype for part in rounded] == [torch.float32] * 5
    torch.testing.assert_close(rounded[0], exact[0], rtol=0.02, atol=0.02)
    for ours, theirs in zip(rounded[2:], exact[2:], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0.02, atol=0.02 * theirs.abs().max().item())


def test_no_rows():
    parts, labels = case(0, 5, 2, seed=0)
    found = outcome(sampled_cross_entropy, parts, labels, ClassSampler(np.ones(5, np.int64), 2, 0).draw(0))
    assert (found[0].item(), found[1].item(), found[3].abs().sum().item()) == (0.0, 0.0, 0.0)
