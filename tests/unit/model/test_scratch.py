"""Encoders from scratch: the usual one as it always was, and others for tokenizers of any kind."""

import pytest
import torch
import transformers

from lexigraft.core.errors import InputError
from lexigraft.core.settings import BackboneSettings
from lexigraft.model.backbone import load_backbone
from lexigraft.model.scratch import make_backbone
from lexigraft.vocab.wordpiece import train_wordpiece
from tests.families import write_backbone

TEXTS = ["sorting a list keeps its order", "removing items of a list", "a list of lists, sorted"]


def test_the_usual_one_is_a_bert_of_three_layers_for_eight_thousand_pieces(tmp_path):
    """Weights drawn by the seed alone, in the order in which BERT draws them."""
    make_backbone(TEXTS, 0, 3, tmp_path)
    n_pieces = train_wordpiece(TEXTS, 8000).tokenizer.get_vocab_size()
    config = transformers.BertConfig(
        vocab_size=n_pieces, hidden_size=256, num_hidden_layers=3, num_attention_heads=4, intermediate_size=1024,
        pad_token_id=0,
    )  # fmt: skip
    torch.manual_seed(3)
    wanted = transformers.BertForMaskedLM(config).state_dict()
    found = transformers.BertForMaskedLM.from_pretrained(tmp_path).state_dict()
    assert found.keys() == wanted.keys()
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_tokenizer_of_any_kind_is_taken_as_it_is(family, tmp_path):
    source, out = write_backbone(family, tmp_path / "theirs"), tmp_path / "ours"
    out.mkdir()
    make_backbone([], 1, 0, out, BackboneSettings(tokenizer=str(source), width=8, heads=2, positions=12))
    ours, theirs = load_backbone(str(out)), load_backbone(str(source))
    assert ours.tokenizer.special == theirs.tokenizer.special
    words = ["kura", "mele", "x7", "zanzan"]
    assert ours.tokenizer.spell(words) == theirs.tokenizer.spell(words)
    assert (ours.width, ours.longest_text, ours.tied) == (8, 12, True)
    assert len(ours.subword_weight) == len(ours.subwords())
    assert (out / "model.safetensors").read_bytes() != (source / "model.safetensors").read_bytes()


def test_a_tokenizer_without_a_mask_is_no_masked_language_models(tmp_path):
    source = tmp_path / "theirs"
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=train_wordpiece(TEXTS, 50).tokenizer, pad_token="[PAD]"
    ).save_pretrained(source)
    with pytest.raises(InputError, match="has no begin, end, mask token"):
        make_backbone([], 1, 0, tmp_path, BackboneSettings(tokenizer=str(source)))


def test_a_damaged_tokenizer_is_said(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(InputError, match="no tokenizer can be loaded from"):
        make_backbone([], 1, 0, tmp_path, BackboneSettings(tokenizer=str(tmp_path)))


def test_what_a_configuration_says_of_a_tokenizer_is_not_lost(tmp_path):
    """Where its own files name no class, the model's configuration beside them decides how it reads."""
    source, out = write_backbone("bert", tmp_path / "theirs"), tmp_path / "ours"
    (source / "tokenizer_config.json").write_text('{"do_lower_case": true, "model_max_length": 512}')
    out.mkdir()
    make_backbone([], 1, 0, out, BackboneSettings(tokenizer=str(source), width=8, heads=2))
    ours, theirs = load_backbone(str(out)), load_backbone(str(source))
    assert ours.tokenizer.special == theirs.tokenizer.special
    assert ours.tokenizer.spell(["Kura", "mele"]) == theirs.tokenizer.spell(["Kura", "mele"])


@pytest.mark.parametrize(("family", "kind"), [("bert", "Bert"), ("roberta", "Roberta"), ("modernbert", "ModernBert")])
def test_every_family_reads_and_has_rows_as_long_as_asked_for(family, kind, tmp_path):
    settings = BackboneSettings(family=family, width=64, heads=2, positions=12, spread=0.3)
    make_backbone(TEXTS * 5, 2, 0, tmp_path, settings)
    model = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path)
    assert type(model).__name__ == f"{kind}ForMaskedLM"
    assert model.config.num_hidden_layers == 2
    backbone = load_backbone(str(tmp_path))
    norms = backbone.subword_weight.norm(dim=1)
    assert norms[norms > 0].mean() == pytest.approx(0.3 * 64**0.5, rel=0.15)  # ModernBERT cuts off what is far
    tokens = torch.randint(5, model.config.vocab_size, (2, 12))
    logits = model(tokens).logits
    assert logits.shape == (2, 12, model.config.vocab_size)
    assert torch.isfinite(logits).all()


def test_a_given_tokenizer_can_leave_punctuation_out(tmp_path):
    source = write_backbone("bert", tmp_path / "theirs")
    read = {}
    for kept in (True, False):
        out = tmp_path / str(kept)
        out.mkdir()
        settings = BackboneSettings(tokenizer=str(source), width=8, heads=2, positions=12, punctuation=kept)
        make_backbone([], 1, 0, out, settings)
        tokenizer = load_backbone(str(out)).hf_tokenizer
        read[kept] = tokenizer.tokenize("kur, mel? [tos] vip.")
    assert [piece for piece in read[True] if piece in ",?."] == [",", "?", "."]
    assert read[False] == ["kur", "mel", "tos", "vip"]
