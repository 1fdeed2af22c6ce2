"""The objective: which losses it has, what they add up to, and what it asks for."""

import numpy as np
import pytest
import torch

from lexigraft.core.errors import SettingError
from lexigraft.core.settings import FinetuneSettings
from lexigraft.train.ranking.losses import in_batch_loss, keep_heaviest
from lexigraft.train.ranking.negatives import HardNegatives
from lexigraft.train.ranking.objective import Objective
from lexigraft.train.ranking.pairs import Judged, TrainingPairs, batch_of_step

CPU = torch.device("cpu")
N_TERMS = 6
NEGATIVES = HardNegatives(
    np.array([0, 2, 2, 3]), np.array([4, 5, 1]), np.array([0.5, np.nan, 0.25], np.float32)
)  # fmt: skip
PAIRS = TrainingPairs(
    range(3), range(6), np.array([0, 1, 2]), np.array([0, 1, 2]), NEGATIVES, np.array([2.0, 1.0, 3.0], np.float32)
)
NONE = {"joint_flops": 0.0, "ramp": 0, "dual": False}
HARD = {"negatives": "run", "n_negatives": 2}
TAUGHT = {**HARD, "teacher": "scores"}


def losses(step=0, size=3, objective=None, **changes):
    settings = FinetuneSettings(**{**NONE, "qk": 2, "dk": 3, **changes})
    torch.manual_seed(step)
    batch = batch_of_step(PAIRS, Judged(PAIRS), step, size, 0, settings.n_negatives)
    queries = torch.rand(len(batch.queries), N_TERMS).round(decimals=1)
    documents = torch.rand(len(batch.documents), N_TERMS).round(decimals=1)
    found = (objective or Objective(settings, N_TERMS, CPU)).losses(queries, documents, batch, step)
    return {name: value.item() for name, value in found.items()}, queries, documents, batch


def test_only_what_is_in_use_is_named():
    assert set(losses()[0]) == {"loss", "rank"}
    everything = {
        "dual": True, "mask_kl": 0.5, "margin_mse": 0.25, "kl": 2.0, "joint_flops": 0.1, "flops_q": 0.2,
        "flops_d": 0.3, "l1_q": 0.4, "l1_d": 0.5, "df_flops": 0.6, **TAUGHT,
    }  # fmt: skip
    found = losses(**everything)[0]
    pressures = ["joint_flops", "flops_q", "flops_d", "l1_q", "l1_d", "df_flops"]
    others = ["loss", "pressure", "rank", "rank_unmasked", "mask_kl", "margin_mse", "kl"]
    assert set(found) == {*pressures, *others}
    pressure = sum(everything[name] * found[name] for name in pressures)
    assert found["pressure"] == pytest.approx(pressure)
    ranking = found["rank"] + found["rank_unmasked"]
    ranking += sum(everything[name] * found[name] for name in ("mask_kl", "margin_mse", "kl"))
    assert found["loss"] == pytest.approx(ranking + pressure)
    assert all(found[name] > 0 for name in (*pressures, *others))


def test_the_dual_loss_is_that_of_masked_and_that_of_unmasked_vectors():
    found, queries, documents, _ = losses(dual=True, symmetric=False, temperature=1.0, margin=0.1)
    unmasked = in_batch_loss(queries @ documents.T, margin=0.1).item()
    masked = in_batch_loss(keep_heaviest(queries, 2) @ keep_heaviest(documents, 3).T, margin=0.1).item()
    assert unmasked != pytest.approx(masked)
    assert (found["rank"], found["rank_unmasked"]) == pytest.approx((masked, unmasked))
    assert found["loss"] == pytest.approx(masked + unmasked)


def test_the_dual_loss_is_one_where_nothing_is_masked():
    assert set(losses(dual=True, qk=0, dk=0)[0]) == {"loss", "rank"}
    assert set(losses(dual=True, in_batch=0.0, kl=1.0, **TAUGHT)[0]) == {"loss", "kl"}


def test_regularisers_see_whole_vectors_or_what_masks_keep():
    whole, queries, documents, _ = losses(joint_flops=1.0)
    kept = losses(joint_flops=1.0, pressed="kept")[0]
    assert whole["joint_flops"] == pytest.approx(float(queries.mean(0) @ documents.mean(0)))
    cut = keep_heaviest(queries, 2).mean(0) @ keep_heaviest(documents, 3).mean(0)
    assert kept["joint_flops"] == pytest.approx(float(cut)) and whole["rank"] == kept["rank"]


def test_pressure_is_steered_from_the_end_of_the_ramp_on():
    """One factor multiplies all regularisers; it moves when a batch was seen, and starts at 1."""
    settings = FinetuneSettings(
        **{**NONE, "qk": 2, "dk": 3, "joint_flops": 1.0, "flops_d": 2.0, "aim": 0.1, "ramp": 1, "steps": 2}
    )
    objective = Objective(settings, N_TERMS, CPU)
    assert set(objective.state()) == {"cost_log_factor", "cost_log_cost", "cost_log_first"}
    factors = []
    for step in range(4):
        found = losses(step, objective=objective)[0]
        ramp = 0.0 if step == 0 else 1.0
        pressure = found["joint_flops"] + 2 * found["flops_d"]
        assert found["pressure"] == pytest.approx(pressure)
        assert found["loss"] == pytest.approx(found["rank"] + ramp * found["factor"] * pressure)
        factors.append(found["factor"])
    assert factors[:2] == [1.0, 1.0] and factors[1] < factors[2] < factors[3]  # every batch costs more than .1
    assert "factor" not in losses(joint_flops=1.0, aim="auto")[0]  # of which only a run knows what it means


def test_the_ramp_slows_the_regularisers_and_nothing_else():
    slow, full = (losses(step=1, flops_d=1.0, ramp=ramp)[0] for ramp in (4, 0))
    assert (slow["pressure"], slow["rank"]) == (full["pressure"], full["rank"])
    assert slow["loss"] == pytest.approx(slow["rank"] + slow["pressure"] / 16)


def test_the_teacher_speaks_of_the_own_document_and_of_the_negatives_drawn_for_it():
    found, queries, documents, batch = losses(in_batch=0.0, margin_mse=1.0, qk=0, dk=0, **TAUGHT)
    assert batch.documents.tolist() == [0, 1, 2, 4, 5]  # query 2's negative, row 1, is in the batch already
    scores = queries @ documents.T
    # query 0: row 4 is scored .5, row 5 is not; query 1 has no negative; query 2: row 1 at .25
    errors = [scores[0, 0] - scores[0, 3] - 1.5, scores[2, 2] - scores[2, 1] - 2.75]
    assert found["margin_mse"] == pytest.approx(sum(error.item() ** 2 for error in errors) / 2)
    assert set(found) == {"loss", "margin_mse"}


def test_distillation_alone_and_beside_the_ranking_loss():
    """At temperature 1, plain softmaxes of both, as in the corpus vocabulary study; only query 2 has two scores but for
    query 0, whose second negative the teacher did not score."""
    alone, queries, documents, _ = losses(in_batch=0.0, kl=1.0, temperature=1.0, qk=0, dk=0, **TAUGHT)
    assert set(alone) == {"loss", "kl"}
    scores = queries @ documents.T
    lists = [(scores[0, [0, 3]], [2.0, 0.5]), (scores[2, [2, 1]], [3.0, 0.25])]
    expected = 0.0
    for students, teachers in lists:
        aim = torch.tensor(teachers).softmax(0)
        expected += (aim * (aim.log() - students.softmax(0).log())).sum().item() / 2
    assert alone["kl"] == alone["loss"] == pytest.approx(expected)
    both = losses(in_batch=0.5, kl=2.0, temperature=1.0, qk=0, dk=0, **TAUGHT)[0]
    assert both["kl"] == pytest.approx(expected)
    assert both["loss"] == pytest.approx(0.5 * both["rank"] + 2 * both["kl"])


def test_hard_negatives_are_negatives_of_all_queries_but_those_they_are_relevant_to():
    _, _, _, batch = losses(**HARD)
    assert batch.relevant.tolist() == np.eye(3, 5, dtype=bool).tolist()
    other = TrainingPairs(range(3), range(6), np.array([0, 1, 2]), np.array([0, 4, 2]), NEGATIVES)
    alone = batch_of_step(other, Judged(PAIRS), 0, 3, 0, 2)
    assert not alone.relevant[1, alone.documents.tolist().index(4)]  # by these judgements 1 wants row 1
    assert alone.relevant[1, alone.documents.tolist().index(1)]  # which query 2 brought along


def test_draws_are_a_function_of_the_step():
    negatives = HardNegatives(np.array([0, 90, 90, 90]), np.arange(90), np.zeros(90, np.float32))
    pairs = TrainingPairs(range(3), range(100), np.array([0, 1, 2]), np.array([90, 91, 92]), negatives)
    drawn = [batch_of_step(pairs, Judged(pairs), step, 3, 5, 4).documents.tolist() for step in (7, 8, 7)]
    assert drawn[0] == drawn[2]
    assert drawn[0] != drawn[1]
    assert [len(documents) for documents in drawn] == [7, 7, 7]  # only one of the queries has negatives


def test_document_frequencies_go_on_where_they_stopped():
    """As a checkpoint does: what is remembered is copied, and filled into a new objective in place."""
    changes = {"df_flops": 1.0, "df_alpha": 0.5}
    whole = Objective(FinetuneSettings(**NONE, **changes), N_TERMS, CPU)
    expected = [losses(step, objective=whole, **changes)[0] for step in range(230)]
    first = Objective(FinetuneSettings(**NONE, **changes), N_TERMS, CPU)
    for step in range(150):
        losses(step, objective=first, **changes)
    saved = {name: value.clone() for name, value in first.state().items()}
    second = Objective(FinetuneSettings(**NONE, **changes), N_TERMS, CPU)
    for name, value in second.state().items():
        value.copy_(saved[name])
    assert [losses(step, objective=second, **changes)[0] for step in range(150, 230)] == expected[150:]
    assert Objective(FinetuneSettings(), N_TERMS, CPU).state() == {}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({**HARD, "n_negatives": 200}, r"finetune\.n_negatives = 200 .* at most finetune\.negatives_depth"),
        ({"teacher": "scores"}, r"finetune\.teacher = 'scores' .* finetune\.negatives and n_negatives"),
        ({"negatives": "run"}, r"finetune\.negatives = 'run' .* unless finetune\.n_negatives is 1 or more"),
        ({**HARD, "teacher": "scores"}, r"finetune\.teacher = 'scores' .*margin_mse or kl gives its scores a weight"),
        ({"mask_kl": 1.0, "qk": 0, "dk": 0}, r"finetune\.mask_kl = 1\.0 .* nothing is masked"),
        ({"in_batch": 0.0}, r"finetune\.in_batch = 0\.0 .* unless margin_mse or kl is"),
    ],
)
def test_losses_without_what_they_need_are_refused(changes, said):
    with pytest.raises(SettingError, match=said):
        FinetuneSettings(**changes)
