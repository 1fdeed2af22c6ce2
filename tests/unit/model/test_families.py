"""Every family of backbones: its own transform is kept, its layers are cut and frozen, its positions counted."""

import pytest
import torch
import transformers

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import InputError
from lexigraft.inference.meta import PLAIN
from lexigraft.inference.reading import read_queries
from lexigraft.model.backbone import load_backbone, state_hash
from lexigraft.model.encoder import FORMAT_VERSION, KIND, SparseEncoder, open_encoder, save_encoder
from lexigraft.model.families import layers_of
from lexigraft.model.head import diagnose
from lexigraft.model.inputs import inputs_of
from lexigraft.model.plain import plain_head
from lexigraft.train.trainable import freeze, set_dropout
from tests.families import FAMILIES, POSITIONS, write_backbone

TEXTS = ["kura mel, tose?", "bru", ""]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {family: write_backbone(family, tmp_path_factory.mktemp(family), loud=20.0) for family in FAMILIES}


def plain_encoder(folder):
    backbone = load_backbone(str(folder))
    return SparseEncoder(backbone, plain_head(backbone), backbone.subwords(), PLAIN).eval()


def inputs_for(encoder, texts=TEXTS, length=12):
    read = read_queries(encoder.reader(), texts, length)
    return inputs_of(read, torch.arange(len(texts)).numpy(), encoder.tokenizer.special.pad, torch.device("cpu"))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_plain_head_gives_the_models_own_logits(family, folders):
    model = transformers.AutoModelForMaskedLM.from_pretrained(folders[family]).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folders[family])
    theirs = tokenizer(TEXTS, padding=True, truncation=True, max_length=6, return_tensors="pt")
    with torch.inference_mode():
        logits = model(input_ids=theirs["input_ids"], attention_mask=theirs["attention_mask"]).logits
        hidden = logits.masked_fill(theirs["attention_mask"].unsqueeze(-1) == 0, float("-inf"))
        encoder = plain_encoder(folders[family])
        ours = inputs_for(encoder, length=6)
        assert torch.equal(ours.subwords, theirs["input_ids"])
        found = encoder.logits(ours.subwords, ours.mask)
    torch.testing.assert_close(found, hidden.amax(1), rtol=1e-5, atol=1e-5)
    assert logits.abs().max() > 1  # there is something to compare
    assert len(encoder.vocabulary) == logits.shape[-1] == len(set(encoder.vocabulary.terms))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_tied_head_stays_tied(family, folders, tmp_path):
    encoder = plain_encoder(folders[family])
    assert encoder.meta.tied
    assert encoder.head.weight is encoder.backbone.word_embeddings
    names = [name for name, _ in encoder.named_parameters()]
    assert "head.weight" in names  # known by that name alone: it has the head's learning rate
    assert not any(name.endswith(("word_embeddings.weight", "tok_embeddings.weight")) for name in names)
    norm = diagnose(encoder.head).mean_norm
    encoder.head.rescale(4)
    assert diagnose(encoder.head).mean_norm == pytest.approx(norm / 4)
    freeze(encoder, 1)
    assert encoder.head.weight.requires_grad
    with write_artifact(tmp_path / "model", Manifest(KIND, FORMAT_VERSION, {})) as draft:
        save_encoder(encoder, draft)
    opened = open_encoder(tmp_path / "model")
    assert opened.head.weight is opened.backbone.word_embeddings
    assert (state_hash(opened), opened.meta) == (state_hash(encoder), encoder.meta)
    with torch.inference_mode():
        assert torch.equal(opened(*inputs_for(opened)), encoder(*inputs_for(encoder)))


@pytest.mark.parametrize("family", FAMILIES)
def test_layers_are_cut_and_the_rest_reads_as_before(family, folders, tmp_path):
    """What remains of the layers gives the hidden states that the whole model has there."""
    cut, whole = load_backbone(str(folders[family]), layers=1), load_backbone(str(folders[family]))
    assert cut.body.model.config.num_hidden_layers == 1
    inputs = torch.tensor([[5, 9, 7, 6]]), torch.ones(1, 4, dtype=torch.long)
    with torch.inference_mode():
        states = whole.body.model.eval()(*inputs[:1], attention_mask=inputs[1], output_hidden_states=True).hidden_states
        ours = cut.body.model.eval()(*inputs[:1], attention_mask=inputs[1], output_hidden_states=True).hidden_states
    torch.testing.assert_close(ours[0], states[0])
    if family != "modernbert":  # whose last state is normalised once more
        torch.testing.assert_close(ours[1], states[1])
    encoder = SparseEncoder(cut, plain_head(cut), cut.subwords(), PLAIN).eval()
    with write_artifact(tmp_path / "model", Manifest(KIND, FORMAT_VERSION, {})) as draft:
        save_encoder(encoder, draft)
    with torch.inference_mode():
        torch.testing.assert_close(open_encoder(tmp_path / "model")(*inputs), encoder(*inputs))
    with pytest.raises(InputError, match="has 3 layers, not 4"):
        load_backbone(str(folders[family]), layers=4)


@pytest.mark.parametrize("family", FAMILIES)
def test_positions_layers_and_unused_parameters(family, folders):
    backbone = load_backbone(str(folders[family]))
    assert backbone.longest_text == POSITIONS
    assert len(layers_of(backbone.body.model)) == (0 if family == "albert" else 3)  # ALBERT's three are one
    encoder = SparseEncoder(backbone, plain_head(backbone), backbone.subwords(), PLAIN)
    inputs = torch.full((1, POSITIONS), 9), torch.ones(1, POSITIONS, dtype=torch.long)
    encoder(*inputs).sum().backward()
    without = [name for name, value in encoder.named_parameters() if value.grad is None]
    assert without == []


@pytest.mark.parametrize("family", FAMILIES)
def test_dropout_is_set_everywhere(family, folders, tmp_path):
    config = transformers.AutoConfig.from_pretrained(folders[family])
    for name in vars(config):
        if "dropout" in name and isinstance(getattr(config, name), float):
            setattr(config, name, 0.5)
    transformers.AutoModelForMaskedLM.from_pretrained(folders[family], config=config).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(folders[family]).save_pretrained(tmp_path)
    encoder = plain_encoder(tmp_path).train()
    inputs = inputs_for(encoder)
    assert not torch.equal(encoder(*inputs), encoder(*inputs))
    set_dropout(encoder, 0.0)
    assert torch.equal(encoder(*inputs), encoder(*inputs))


def test_freezing_keeps_the_lowest_layers(folders):
    encoder = plain_encoder(folders["distilbert"])
    encoder.head.weight = torch.nn.Parameter(encoder.head.weight.detach().clone())  # a head of its own
    freeze(encoder, 2)
    trained = {name for name, value in encoder.named_parameters() if value.requires_grad}
    assert not any(f".layer.{number}." in name for name in trained for number in (0, 1))
    assert any(".layer.2." in name for name in trained)
    assert not any("word_embeddings" in name for name in trained)
    assert "head.weight" in trained


def test_an_untied_head_is_its_own(folders, tmp_path):
    config = transformers.AutoConfig.from_pretrained(folders["bert"])
    config.tie_word_embeddings = False
    torch.manual_seed(0)
    transformers.BertForMaskedLM(config).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(folders["bert"]).save_pretrained(tmp_path)
    encoder = plain_encoder(tmp_path)
    assert not encoder.meta.tied
    embeddings = encoder.backbone.word_embeddings.detach().clone()
    encoder.head.rescale(2)
    assert torch.equal(encoder.backbone.word_embeddings, embeddings)
    assert not torch.equal(encoder.head.weight, embeddings)


def test_a_backbone_without_a_head_is_tied_to_its_embeddings_or_refused(folders, tmp_path):
    for family in ("bert", "albert"):
        kind = transformers.AutoModel.from_pretrained(folders[family])
        kind.save_pretrained(tmp_path / family)
        transformers.AutoTokenizer.from_pretrained(folders[family]).save_pretrained(tmp_path / family)
    encoder = plain_encoder(tmp_path / "bert")
    assert (encoder.meta.mlm_head, encoder.meta.tied) == ("tied", True)
    assert encoder.head.weight is encoder.backbone.word_embeddings
    with pytest.raises(InputError, match="they are 8 wide and its hidden states 16; give it a head first"):
        load_backbone(str(tmp_path / "albert"))
