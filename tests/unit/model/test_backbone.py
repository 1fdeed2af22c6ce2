"""Backbones of several families, tiny and random: hidden states come after each one's own transform."""

import pytest
import torch
import transformers

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import InputError
from lexigraft.core.pretrained import ALIGNED
from lexigraft.core.types import Vocabulary
from lexigraft.model.backbone import Body, PassThrough, load_backbone, state_hash
from lexigraft.model.encoder import FORMAT_VERSION, KIND, SparseEncoder, open_encoder, save_encoder
from lexigraft.model.head import random_head

SIZES = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
FAMILIES = {
    "bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig(**SIZES)),
    "roberta": lambda: transformers.RobertaForMaskedLM(transformers.RobertaConfig(**SIZES)),
    "distilbert": lambda: transformers.DistilBertForMaskedLM(
        transformers.DistilBertConfig(vocab_size=40, dim=16, n_layers=2, n_heads=2, hidden_dim=32)
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_times_hidden_states_are_the_models_own_logits(family):
    torch.manual_seed(0)
    model = FAMILIES[family]().eval()
    subwords, mask = torch.randint(5, 39, (2, 6)), torch.ones(2, 6, dtype=torch.long)
    expected = model(input_ids=subwords, attention_mask=mask).logits
    decoder = model.get_output_embeddings()
    weight, bias = decoder.weight.detach().clone(), decoder.bias.detach().clone()
    model.set_output_embeddings(PassThrough())
    hidden = Body(model, has_mlm_head=True)(subwords, mask)
    torch.testing.assert_close(hidden @ weight.T + bias, expected)


@pytest.fixture
def folder(tmp_path):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh", *(f"##{letter}" for letter in "abcdefgh")]
    transformers.BertTokenizerFast(vocab={piece: n for n, piece in enumerate(pieces)}).save_pretrained(tmp_path)
    FAMILIES["bert"]().save_pretrained(tmp_path)
    return tmp_path


def test_opened_weights_lie_where_torch_would_put_its_own(folder):
    """In their file they lie anywhere, and some processors add in another order there."""
    opened = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    assert any(weight.data_ptr() % ALIGNED for weight in opened.parameters())
    body = load_backbone(str(folder)).body
    assert not any(weight.data_ptr() % ALIGNED for weight in body.parameters())


def test_layers_are_cut_and_words_are_spelt(folder):
    backbone = load_backbone(str(folder), layers=1)
    assert backbone.body.model.config.num_hidden_layers == 1
    assert backbone.body.has_mlm_head
    assert backbone.tokenizer.spell(["ab", "z"]) == [[5, 14], [1]]
    assert backbone.tokenizer.can_spell(["ab", "z"]) == [True, False]
    with pytest.raises(InputError, match="has 2 layers, not 3"):
        load_backbone(str(folder), layers=3)


def test_a_saved_encoder_gives_the_same_vectors(folder, tmp_path):
    vocabulary = Vocabulary(["a", "bc", "d"])
    backbone = load_backbone(str(folder))
    encoder = SparseEncoder(backbone, random_head(3, 16, seed=1, std=1.0), vocabulary, "random").eval()
    with write_artifact(tmp_path / "model", Manifest(KIND, FORMAT_VERSION, {})) as draft:
        save_encoder(encoder, draft)
    opened = open_encoder(tmp_path / "model")
    assert state_hash(opened) == state_hash(encoder)
    assert opened.meta == encoder.meta
    inputs = torch.tensor([[2, 5, 6, 3]]), torch.ones(1, 4, dtype=torch.long)
    torch.testing.assert_close(opened(*inputs), encoder(*inputs))


def test_folders_without_a_model_or_tokenizer(folder, tmp_path):
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InputError, match="no backbone can be loaded"):
        load_backbone(str(tmp_path / "nothing"))
    for file in folder.glob("*token*"):
        file.unlink()
    (folder / "vocab.txt").unlink(missing_ok=True)
    with pytest.raises(InputError, match="tokenizer"):
        load_backbone(str(folder))
