"""How texts are encoded on a GPU, by lists of terms: the same rows as by whole vectors. On a CPU Triton's interpreter
stands in for the GPU, and nothing is copied."""

import numpy as np
import pytest

from lexigraft.inference.reading import read_documents
from lexigraft.model import head, listed_weights, pool, torch_network
from lexigraft.model.torch_network import TorchNetwork
from tests.families import write_backbone
from tests.small_models import grafted, plain
from tests.triton_kernels import DEVICE, kernels

# Products with slots that no text owns may be anything.
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
TEXTS = ["the kur of melor", "", "kurmel fodgix kur kur", "mel", "of of of", "fodgix the melor kur mel kur mel"]


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A model of some kind with the rows of its texts, by lists and by whole vectors."""

    def made(kind):
        encoder = kind(write_backbone("bert", tmp_path / "backbone", loud=20.0)).to(DEVICE).eval()
        network = TorchNetwork(encoder, exact=True)
        read = read_documents(network.meta, network.reader, TEXTS, 14)
        monkeypatch.setenv("LEXIGRAFT_HEAD", "torch")
        whole = network.write(read, False)
        monkeypatch.delenv("LEXIGRAFT_HEAD")
        for module in (listed_weights, head, pool):
            monkeypatch.setattr(module, "kernels_for", lambda operand: kernels)
        assert listed_weights.lists_weights(encoder, False)
        return network, read, whole

    return made


def assert_same(found, expected):
    assert np.array_equal(found.indptr, expected.indptr)
    assert np.array_equal(found.terms, expected.terms)
    assert np.allclose(found.weights, expected.weights, atol=2e-6, rtol=0)
    assert found.terms.dtype == np.int32 and found.weights.dtype == np.float32


@pytest.mark.parametrize("kind", [grafted, plain])
def test_lists_are_whole_vectors(kind, made, monkeypatch):
    monkeypatch.setattr(torch_network, "CPU_BATCH", 4)  # one batch is fetched while the next is computed
    monkeypatch.setattr(torch_network, "GPU_BATCH", 4)
    network, read, whole = made(kind)
    assert len(whole.terms) > 20
    assert_same(network.write(read, False), whole)


def test_own_words_count_without_the_model(made, monkeypatch):
    """A term whose logit is below zero is listed for its own word alone."""
    network, read, _ = made(grafted)
    network.encoder.head.bias.data.fill_(-1e3)
    network.encoder.head.own.data.fill_(2e3)
    found = network.write(read, False)
    assert np.array_equal(found.indptr, read.bags.indptr) and np.array_equal(found.terms, read.bags.terms)
    assert len(found.terms) == 8


def test_a_text_with_more_terms_than_a_list_holds_loses_none(made, monkeypatch):
    monkeypatch.setattr(listed_weights, "ROOM", 3)
    monkeypatch.setattr(torch_network, "ROOM", 3)
    network, read, whole = made(grafted)
    assert int(np.diff(whole.indptr).max()) > 3
    assert_same(network.write(read, False), whole)


def test_own_words_are_weighed_some_at_a_time(made, monkeypatch):
    monkeypatch.setattr(listed_weights, "OWN_AT_ONCE", 2)
    network, read, whole = made(grafted)
    assert int(np.diff(read.bags.indptr).max()) > 2
    assert_same(network.write(read, False), whole)


def test_a_text_with_too_many_own_words_loses_none(made, monkeypatch):
    monkeypatch.setattr(listed_weights, "MOST_OWN", 1)
    network, read, whole = made(grafted)
    assert int(np.diff(read.bags.indptr).max()) > 1 > int(np.diff(read.bags.indptr).min())
    assert_same(network.write(read, False), whole)
