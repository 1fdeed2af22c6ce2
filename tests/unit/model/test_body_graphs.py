"""A backbone's passes recorded and replayed. What is recorded when is tested anywhere, what a replay computes on a GPU:

pytest --noconftest -p no:cacheprovider tests/unit/model/test_body_graphs.py
"""

import pytest
import torch
from torch import nn
from transformers import BertConfig, BertModel

from lexigraft.model import body_graphs
from lexigraft.model.body_graphs import BodyGraphs, replayed

on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
WIDTH = 64


class Small(nn.Module):
    """Two layers of BERT."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        config = BertConfig(
            vocab_size=50, hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=4, intermediate_size=2 * WIDTH,
            hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout,
        )  # fmt: skip
        self.model = BertModel(config, add_pooling_layer=False)
        self.graphs = None

    def launched(self, subwords, mask):
        return self.model(input_ids=subwords, attention_mask=mask).last_hidden_state


@pytest.fixture
def seen(monkeypatch):
    """Recordings are noted, and replay what was launched."""
    recorded = []

    def record(self, key, subwords, mask):
        recorded.append(key)
        self._graphs[key] = lambda *inputs: ("replayed", self._body.launched(*inputs))[1]

    monkeypatch.setattr(BodyGraphs, "_record", record)
    return recorded


def texts(n, length):
    return torch.randint(0, 50, (n, length)), torch.ones(n, length, dtype=torch.long)


def step(graphs, *shapes):
    graphs.begin_step()
    return [graphs(*texts(*shape)) for shape in shapes]


def test_a_shape_is_recorded_when_it_has_come_twice(seen):
    graphs = BodyGraphs(Small(0.0), 32)
    for expected in ([], [], [(4, 16, 0)], [(4, 16, 0)]):
        (hidden,) = step(graphs, (4, 13))
        assert hidden.shape == (4, 13, WIDTH)
        assert seen == expected


def test_lengths_are_rounded_up_but_not_beyond_what_a_backbone_reads(seen):
    graphs = BodyGraphs(Small(0.0), 20)
    for length in (9, 16, 10, 17, 18, 17):
        step(graphs, (2, length))
    step(graphs)
    assert seen == [(2, 16, 0), (2, 17, 0)]  # 24 would be too long: these keep their own


def test_two_of_one_shape_in_a_step_have_recordings_of_their_own(seen):
    graphs = BodyGraphs(Small(0.0), None)
    for _ in range(3):
        step(graphs, (2, 8), (2, 7))
    assert seen == [(2, 8, 0), (2, 8, 1)]


def test_recordings_are_few(seen, monkeypatch):
    monkeypatch.setattr(body_graphs, "MOST", 3)
    graphs = BodyGraphs(Small(0.0), None)
    for _ in range(3):
        step(graphs, *((n, 8) for n in range(1, 7)))
    assert len(seen) == 3


def test_padding_changes_no_hidden_state():
    body = Small(0.0).train()
    subwords, mask = texts(3, 13)
    torch.testing.assert_close(BodyGraphs(body, 32)(subwords, mask), body.launched(subwords, mask))


def test_nothing_is_replayed_on_a_cpu():
    body = Small(0.0)
    with replayed(body, 32, torch.device("cpu")) as begin_step:
        begin_step()
        assert body.graphs is None


def trained(body, replays, steps, monkeypatch, lengths=(14, 30)):
    """Hidden states and gradients of some steps whose lengths change, replayed or launched."""
    monkeypatch.setattr(body_graphs, "MOST", 16 if replays else 0)
    device, found = torch.device("cuda"), []
    torch.manual_seed(3)
    draw = torch.Generator().manual_seed(4)
    with replayed(body, 64, device) as begin_step:
        for number in range(steps):
            begin_step()
            hidden = []
            for n, length in ((5, lengths[0]), (3, lengths[1] - 5 * (number % 2))):
                subwords = torch.randint(0, 50, (n, length), generator=draw).to(device)
                mask = (torch.arange(length) < torch.randint(1, length + 1, (n, 1), generator=draw)).long().to(device)
                mask[0] = 1
                hidden.append((body.graphs(subwords, mask) * mask.unsqueeze(2)).clone())
            body.zero_grad()
            sum(part.square().sum() for part in hidden).backward()
            found.append([*(part.detach() for part in hidden), *(part.grad.clone() for part in body.parameters())])
            del hidden
        assert bool(body.graphs._graphs) == replays
    return found


@on_gpu
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_replays_compute_what_launches_do_with_the_same_random_numbers(dropout, monkeypatch):
    body = Small(dropout).cuda().train()
    replays, launches = (trained(body, replays, 8, monkeypatch) for replays in (True, False))
    for one, other in zip(replays, launches, strict=True):
        for mine, theirs in zip(one, other, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-5)


@on_gpu
def test_without_padding_and_dropout_too(monkeypatch):
    body = Small(0.0).cuda().train()
    replays, launches = (trained(body, replays, 8, monkeypatch, (16, 29)) for replays in (True, False))
    for one, other in zip(replays, launches, strict=True):
        for mine, theirs in zip(one, other, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-5)


@on_gpu
def test_what_cannot_be_recorded_is_launched(caplog):
    class Asks(Small):
        def launched(self, subwords, mask):
            return super().launched(subwords, mask) * float(mask.sum() > 0)  # asks the device: no recording can

    body = Asks(0.3).cuda().train()
    with replayed(body, 64, torch.device("cuda")) as begin_step:
        for _ in range(6):
            begin_step()
            hidden = body.graphs(*(part.cuda() for part in texts(2, 8)))
            hidden.sum().backward()
            is_finite = bool(hidden.isfinite().all())
            del hidden
    assert sum("one by one" in record.message for record in caplog.records) == 1
    assert is_finite
