"""The dense encoder: means by hand, its files, its graph, and who refuses it."""

import numpy as np
import pytest
import torch

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import ArtifactError, SettingError
from lexigraft.dense.opening import ensure_dense_form, open_dense
from lexigraft.inference.dense_graph import DenseGraph
from lexigraft.inference.dense_meta import DENSE_FORMAT, DENSE_KIND, embed
from lexigraft.inference.folder import form_beside
from lexigraft.model.backbone import load_backbone
from lexigraft.model.dense_encoder import DenseEncoder, TorchDense, open_dense_encoder, save_dense, unit_means
from lexigraft.vectors.open_network import open_network
from tests.families import FAMILIES, write_backbone

TEXTS = ["kur mel tos", "", "Vip, zan? kura mela tosa " * 9, "bru"]


def made(folder, family="bert"):
    """An untrained encoder of a family, saved as an artifact."""
    backbone = load_backbone(str(write_backbone(family, folder / family)), layers=2)
    with write_artifact(folder / "encoder", Manifest(DENSE_KIND, DENSE_FORMAT, {})) as draft:
        save_dense(DenseEncoder.of(backbone, 6, 12), draft)
    return folder / "encoder"


def test_the_mean_of_what_is_no_padding_divided_by_its_length():
    hidden = torch.tensor([[[1.0, 0.0], [5.0, 8.0], [9.0, 9.0]], [[0.0, 2.0], [7.0, 7.0], [7.0, 7.0]]])
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    # (1 + 5, 0 + 8) / 2 = (3, 4), of length 5; (0, 2), of length 2.
    assert unit_means(hidden, mask).flatten().tolist() == pytest.approx([0.6, 0.8, 0.0, 1.0])


@pytest.mark.parametrize(
    "family", [f if f == "bert" else pytest.param(f, marks=pytest.mark.integration) for f in FAMILIES]
)
def test_a_saved_encoder_and_its_graph_give_the_vectors_of_the_backbone(tmp_path, family):
    encoder = made(tmp_path, family)
    hf = open_dense_encoder(encoder)
    found = embed(TorchDense(hf, exact=True), TEXTS, are_queries=False)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    for text, vector in zip(TEXTS, found, strict=True):  # as anybody would by transformers alone
        inputs = hf.hf_tokenizer(text, truncation=True, max_length=12, return_tensors="pt")
        with torch.inference_mode():
            names = ("input_ids", "attention_mask")
            mean = hf.model(**{name: inputs[name] for name in names}).last_hidden_state[0].mean(0)
        assert vector == pytest.approx((mean / mean.norm()).numpy(), abs=1e-5)
    assert ensure_dense_form(encoder) == ""
    for bits, least in ((32, 0.9999), (8, 0.95)):
        opened = open_dense(encoder, bits)
        assert isinstance(opened, DenseGraph)
        assert (embed(opened, TEXTS, are_queries=False) * found).sum(1).min() > least
    short = embed(open_dense(encoder, 32), TEXTS, are_queries=True)
    assert short[0] == pytest.approx(found[0], abs=1e-4)
    assert (short[2] * found[2]).sum() < 0.9999  # half as much of it is read


def test_the_form_is_of_the_very_encoder_and_a_sparse_reader_refuses_it(tmp_path):
    encoder = made(tmp_path)
    assert ensure_dense_form(encoder) == ""
    with pytest.raises(ArtifactError, match="holds a dense-encoder, not a model"):
        open_network(encoder)
    with pytest.raises(ArtifactError, match="holds a dense-inference, not a dense-encoder"):
        open_dense(form_beside(encoder))


def test_longer_than_the_backbone_reads(tmp_path):
    backbone = load_backbone(str(write_backbone("bert", tmp_path / "bert")))
    with pytest.raises(SettingError, match=r"reads at most 40 subwords, not 41"):
        DenseEncoder.of(backbone, 8, 41)
