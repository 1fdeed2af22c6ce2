"""A cross-encoder reads pairs as its tokenizer does elsewhere, and is a folder that transformers opens."""

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import processors

from lexigraft.core.errors import InputError
from lexigraft.model.cross_encoder import Lengths, load_cross_encoder, open_cross_encoder
from lexigraft.model.scratch import make_backbone
from lexigraft.model.text_pairs import pair_inputs, read_subwords
from tests.families import FAMILIES, write_backbone

LENGTHS = Lengths(12, 24)
QUERIES = ["kura mela", "zan", ""]
DOCUMENTS = ["kura kure, tosa?", "", "vip zan fod gix tos"]
PAIRS = [(query, document) for query in range(3) for document in range(3)]


@pytest.fixture(scope="module")
def backbones(tmp_path_factory):
    """One of every family; those of byte pairs get a template for pairs, which their tokenizers come without."""
    root, found = tmp_path_factory.mktemp("backbones"), {}
    for family in FAMILIES:
        found[family] = write_backbone(family, root / family, loud=5.0)
    for family, (begin, end) in {"roberta": ("<s>", "</s>"), "modernbert": ("[CLS]", "[SEP]")}.items():
        tokenizer = transformers.AutoTokenizer.from_pretrained(found[family])
        ends = [(name, tokenizer.convert_tokens_to_ids(name)) for name in (begin, end)]
        between = f"{end} {end}" if family == "roberta" else end
        tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{begin} $A {end}", pair=f"{begin} $A {between} $B {end}", special_tokens=ends
        )
        tokenizer.save_pretrained(found[family])
    make_backbone(["kura mela tosa vipe zana fodo"] * 3, 1, 0, _made(root / "scratch"))
    return found | {"scratch": root / "scratch"}


def _made(folder):
    folder.mkdir()
    return folder


@torch.inference_mode()
def scores(model, queries=QUERIES, documents=DOCUMENTS, pairs=PAIRS):
    asked = read_subwords(model.tokenizer, queries, model.lengths.query)
    found = read_subwords(model.tokenizer, documents, model.lengths.document)
    rows = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    return model.eval()(pair_inputs(model.template, asked, found, *rows, model.pad_id)).numpy()


@pytest.mark.parametrize("family", [*FAMILIES, "scratch"])
def test_saved_it_scores_elsewhere_as_here(family, backbones, tmp_path):
    model = load_cross_encoder(str(backbones[family]), LENGTHS, seed=3)
    assert model.has_types == (family in ("bert", "albert", "scratch"))
    for name, value in model.named_parameters():
        value.data.mul_(100 if "classifier" in name else 1)  # as drawn, it makes all scores nearly alike
    expected = scores(model)
    assert len(set(expected.round(3).tolist())) == 9
    model.save(tmp_path)
    assert np.array_equal(scores(open_cross_encoder(str(tmp_path))), expected)
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    texts = [QUERIES[query] for query, _ in PAIRS], [DOCUMENTS[document] for _, document in PAIRS]
    with torch.inference_mode():
        found = theirs(**tokenizer(*texts, padding=True, return_tensors="pt")).logits
    assert found.shape == (9, 1)
    assert np.allclose(found[:, 0], expected, atol=1e-5)


TEXT = st.text(alphabet="kurmelzan ., 0Aé", max_size=12)


@given(TEXT, TEXT)
def test_a_pair_is_what_the_tokenizer_makes_of_it(backbones, query, document):
    for family in ("bert", "roberta"):
        model = _cached(backbones[family])
        asked, found = (read_subwords(model.tokenizer, [text], 30) for text in (query, document))
        inputs = pair_inputs(model.template, asked, found, np.array([0]), np.array([0]), model.pad_id)
        expected = model.tokenizer([query], [document], return_token_type_ids=True)
        assert inputs.subwords.tolist() == expected["input_ids"]
        assert inputs.types.tolist() == expected["token_type_ids"]
        assert inputs.mask.tolist() == expected["attention_mask"]


_models = {}


def _cached(folder):
    if folder not in _models:
        _models[folder] = load_cross_encoder(str(folder), LENGTHS)
    return _models[folder]


def test_texts_are_cut_each_by_its_own_length_and_padded_behind(backbones):
    model = _cached(backbones["bert"])
    asked = read_subwords(model.tokenizer, ["kur mel tos vip", "kur"], 2)
    found = read_subwords(model.tokenizer, ["zan fod gix", "bru"], 2)
    inputs = pair_inputs(model.template, asked, found, np.array([0, 1]), np.array([0, 1]), model.pad_id)
    tokens = [model.tokenizer.convert_ids_to_tokens(row.tolist()) for row in inputs.subwords]
    assert tokens[0] == ["[CLS]", "kur", "mel", "[SEP]", "zan", "fod", "[SEP]"]
    assert tokens[1] == ["[CLS]", "kur", "[SEP]", "bru", "[SEP]", "[PAD]", "[PAD]"]
    assert inputs.mask[1].tolist() == [1, 1, 1, 1, 1, 0, 0]
    assert inputs.types[1].tolist() == [0, 0, 0, 1, 1, 0, 0]


def test_padding_changes_no_score(backbones):
    model = _cached(backbones["bert"])
    together = scores(model)
    assert np.allclose(together, [scores(model, pairs=[pair])[0] for pair in PAIRS], atol=1e-6)


def test_the_head_is_drawn_by_the_seed_and_layers_are_cut(backbones):
    name = str(backbones["bert"])
    drawn = [load_cross_encoder(name, LENGTHS, seed=seed).model.classifier.weight for seed in (1, 1, 2)]
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])
    assert load_cross_encoder(name, LENGTHS, layers=1).model.config.num_hidden_layers == 1


def test_one_that_exists_is_trained_further(backbones, tmp_path):
    first = load_cross_encoder(str(backbones["distilbert"]), LENGTHS, seed=1)
    first.save(tmp_path)
    again = load_cross_encoder(str(tmp_path), LENGTHS, seed=2)
    assert torch.equal(first.model.classifier.weight, again.model.classifier.weight)


def test_what_cannot_be_a_teacher_is_refused(backbones, tmp_path):
    several = transformers.AutoModelForSequenceClassification.from_pretrained(backbones["bert"], num_labels=3)
    several.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(backbones["bert"]).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="gives 3 labels, and a teacher one score; take a cross-encoder of one label"):
        load_cross_encoder(str(tmp_path), LENGTHS)
    with pytest.raises(InputError, match="is no cross-encoder: it gives no score; train one of it"):
        open_cross_encoder(str(backbones["bert"]))
    with pytest.raises(InputError, match=r"at most 40 subwords, 3 of them special; .* are 43 together: lower one"):
        load_cross_encoder(str(backbones["bert"]), Lengths(10, 30))
    with pytest.raises(InputError, match="has no template for pairs"):
        load_cross_encoder(str(write_backbone("roberta", tmp_path / "bare")), LENGTHS)


def test_one_from_elsewhere_is_asked_how_much_it_reads(backbones, tmp_path):
    load_cross_encoder(str(backbones["bert"]), LENGTHS).save(tmp_path)
    assert open_cross_encoder(str(tmp_path)).lengths == LENGTHS
    assert open_cross_encoder(str(tmp_path), Lengths(3, 4)).lengths == Lengths(3, 4)
    (tmp_path / "teacher.json").unlink()
    with pytest.raises(InputError, match="does not say how much of a text it reads; give --query-length"):
        open_cross_encoder(str(tmp_path))


def test_scores_stay_apart_in_half_precision(backbones):
    """The last layer is in 32 bits: in 16 a quarter of these would tie."""
    model = load_cross_encoder(str(backbones["bert"]), LENGTHS).eval()
    words = [f"kura {a}{b} mela" for a in "abcdefghij" for b in "abcdefghij"]
    pairs = [(0, at) for at in range(len(words))]
    with torch.no_grad():
        model.model.classifier.bias.fill_(7.0)  # where numbers of 16 bits lie far apart
    with torch.autocast("cpu", torch.bfloat16):
        found = scores(model, ["kura"], words, pairs)
    whole = scores(model, ["kura"], words, pairs)
    assert found.dtype == np.float32
    assert len(set(found.tolist())) > 0.9 * len(set(whole.tolist()))


def test_a_lone_surrogate_is_read_as_elsewhere(backbones):
    tokenizer = load_cross_encoder(str(backbones["bert"]), LENGTHS).tokenizer
    broken, asked = read_subwords(tokenizer, ["kura \ud800 mela"], 9), read_subwords(tokenizer, ["kura ? mela"], 9)
    assert broken.subwords.tolist() == asked.subwords.tolist()
