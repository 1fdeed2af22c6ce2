"""Dense vectors of texts: means of hidden states over real tokens, whatever is batched together."""

import numpy as np
import pytest
import torch

from lexigraft.model import embed as embedding
from lexigraft.model.backbone import load_backbone
from lexigraft.model.embed import embed
from tests.unit.model.test_backbone import FAMILIES, folder  # noqa: F401

TEXTS = ["ab c", "a", "hgfedcba " * 40, "", "zzz d", "ab c"]


def test_the_mean_over_real_tokens(folder, monkeypatch):  # noqa: F811
    backbone = load_backbone(str(folder))
    found = embed(backbone, TEXTS)
    assert found.shape == (6, 16)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(found[0], found[5])
    special = backbone.tokenizer.special
    for row, text in enumerate(TEXTS):
        ids = [special.begin, *backbone.tokenizer.spell([text])[0][:62], special.end]
        with torch.inference_mode():
            hidden = backbone.body.model.bert(torch.tensor([ids])).last_hidden_state[0].mean(0)
        np.testing.assert_allclose(found[row], hidden / hidden.norm(), atol=1e-5)
    monkeypatch.setattr(embedding, "BATCH", 2)
    np.testing.assert_allclose(embed(backbone, TEXTS), found, atol=1e-5)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_family_has_a_bare_encoder(family):
    model = FAMILIES[family]()
    assert hasattr(model.base_model(torch.tensor([[3, 4]])), "last_hidden_state")
