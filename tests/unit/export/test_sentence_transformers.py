"""Models as folders of sentence-transformers: its vectors are ours, in both forms; taken back and exported again, all
bytes are the same."""

import json

import numpy as np
import pytest
import torch
from sentence_transformers import SparseEncoder as TheirEncoder

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import InputError, LexigraftError, SettingError
from lexigraft.core.word_rule import WordRule
from lexigraft.export.targets import Wanted, export
from lexigraft.inference.dense_meta import DENSE_FORMAT, DENSE_KIND
from lexigraft.inference.meta import BY_TABLE, BY_WORDS, LOG1P_TWICE
from lexigraft.learn.import_model import import_model
from lexigraft.model.encoder import open_encoder
from lexigraft.model.torch_network import TorchNetwork
from lexigraft.vectors.text_encoder import TextEncoder
from lexigraft.vocab.lookup import TableRows, own_terms_table
from tests.families import FAMILIES, write_backbone
from tests.small_models import TERMS, grafted, headless, plain, saved, unicoil

TEXTS = ["kura mel, tose?", "bru", "", "the kur of the mel and the zan", "melmel fod gix vip kur kur", "the", "?!"]
WHOLE = [*TEXTS[:3], "Kür don't", "zan " * 3]  # that both sides read to their end
TOLERANCE = 2e-5
STOCK = {"pooled": "all"}
LONG = {"query_length": 38, "document_length": 40}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    found = {family: write_backbone(family, tmp_path_factory.mktemp(family), loud=20.0) for family in FAMILIES}
    return {**found, "headless": headless(tmp_path_factory.mktemp("headless"))}


@pytest.fixture(autouse=True)
def without_graphs(monkeypatch):
    """An imported model is ready without its graph, which is made when it is first used."""
    monkeypatch.setattr("lexigraft.learn.import_model.ensure_form", lambda *_: "")


def exported(path, out, form=""):
    return export("sentence-transformers", Wanted(path, form=form), out)


def ours(path, texts, are_queries):
    """Dense [texts, terms], as torch writes them."""
    network = TorchNetwork(open_encoder(path), exact=True)
    found = np.zeros((len(texts), network.meta.n_terms), np.float32)
    for row, (terms, weights) in enumerate(TextEncoder(network, are_queries).encode(texts)):
        found[row, terms] = weights
    return found


def assert_same_vectors(path, out, texts=TEXTS, before=0, smallest=0.0, trusted=False):
    """Both sides; `before` dimensions are subwords and must be empty. Returns the model, for more questions."""
    theirs = TheirEncoder(str(out), device="cpu", trust_remote_code=trusted)
    for are_queries, encode in ((True, theirs.encode_query), (False, theirs.encode_document)):
        found = encode(texts).to_dense().numpy()
        expected = ours(path, texts, are_queries)
        assert found.shape == (len(texts), before + expected.shape[1])
        assert not found[:, :before].any()
        np.testing.assert_allclose(found[:, before:], expected, rtol=TOLERANCE, atol=max(TOLERANCE, smallest))
        assert (expected > 0.1).sum() > 3  # there is something to compare
    return theirs


def assert_comes_back(path, out, tmp_path, form=""):
    """What was exported is taken back as the same model, and exported again to the same bytes."""
    import_model(str(out), tmp_path / "back")
    for are_queries in (True, False):
        expected, found = ours(path, TEXTS, are_queries), ours(tmp_path / "back", TEXTS, are_queries)
        np.testing.assert_array_equal(found, expected)
    exported(tmp_path / "back", tmp_path / "again", form)
    assert files_of(tmp_path / "again") == files_of(out)


def files_of(folder):
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts
    }  # fmt: skip


def some_always(names, always):
    """The others are for `make test-integrations`: each takes as long again."""
    return [name if name in always else pytest.param(name, marks=pytest.mark.integration) for name in names]


@pytest.mark.parametrize("pooling", some_always(("max", "sum"), ("max",)))
@pytest.mark.parametrize("family", some_always((*FAMILIES, "headless"), ("bert", "headless")))
def test_a_plain_head_is_stock(family, pooling, folders, tmp_path):
    path = saved(plain(folders[family]), tmp_path / "model", pooling=pooling, **STOCK, query_prompt="kur: ")
    assert exported(path, tmp_path / "out").facts["form"] == "stock"
    theirs = assert_same_vectors(path, tmp_path / "out", smallest=1.1e-4)
    names = {name for name, _ in theirs.decode(theirs.encode_query("kura"))} - {None}  # of rows that nothing names
    assert names and names <= set(open_encoder(path).vocabulary.terms)
    assert_comes_back(path, tmp_path / "out", tmp_path)


@pytest.mark.parametrize("family", some_always(("bert", "roberta", "modernbert", "headless"), ("bert", "headless")))
def test_terms_of_their_own_are_readable_in_stock_form(family, folders, tmp_path):
    path = saved(grafted(folders[family], own=False), tmp_path / "model", **STOCK, **LONG, activation=LOG1P_TWICE)
    found = exported(path, tmp_path / "out", "stock")
    assert any("cut within its last word" in line for line in found.lost)
    before = found.facts["dimensions"] - len(TERMS)
    assert before > 0
    theirs = assert_same_vectors(path, tmp_path / "out", WHOLE, before, smallest=1.1e-4)
    assert {name for name, _ in theirs.decode(theirs.encode_query("kura"))} <= {f"term:{term}" for term in TERMS.terms}
    assert theirs.tokenizer("term:kur")["input_ids"] and max(theirs.tokenizer("term:kur")["input_ids"]) < before
    assert_comes_back(path, tmp_path / "out", tmp_path, "stock")


def test_accents_are_folded_in_stock_form(folders, tmp_path):
    encoder = grafted(folders["bert"], False, WordRule(fold_accents=True))
    path = saved(encoder, tmp_path / "model", **STOCK, **LONG)
    found = exported(path, tmp_path / "out", "stock")
    before = found.facts["dimensions"] - len(TERMS)
    assert_same_vectors(path, tmp_path / "out", ["kúra tøs", "ßaß Ünd", "кий é", "kur"], before, smallest=1.1e-4)


@pytest.mark.parametrize("queries", [BY_WORDS, BY_TABLE])
def test_queries_without_a_model_are_a_router(queries, folders, tmp_path):
    encoder = plain(folders["bert"])
    if queries == BY_TABLE:
        encoder.set_table(own_terms_table(np.linspace(1.0, 2.0, len(encoder.vocabulary))))
    path = saved(encoder, tmp_path / "model", **STOCK, queries=queries)
    exported(path, tmp_path / "out", "stock")
    theirs = assert_same_vectors(path, tmp_path / "out", smallest=1.1e-4)
    long = " ".join(TEXTS * 5)  # a query is read whole
    np.testing.assert_allclose(theirs.encode_query([long]).to_dense().numpy(), ours(path, [long], True), rtol=TOLERANCE)
    assert_comes_back(path, tmp_path / "out", tmp_path, "stock")


def test_limits_of_terms_that_differ_are_said(folders, tmp_path):
    path = saved(plain(folders["bert"]), tmp_path / "model", **STOCK, query_terms=3, document_terms=5)
    found = exported(path, tmp_path / "stock", "stock")
    assert any("3 of a query and 5 of a document" in line for line in found.lost)
    assert json.loads((tmp_path / "stock/config_sentence_transformers.json").read_text())["max_active_dims"] == 5
    assert exported(path, tmp_path / "out").facts["form"] == "full"  # which loses nothing
    assert_same_vectors(path, tmp_path / "out", trusted=True)


FULL = {
    "grafted": lambda folders: (grafted(folders["bert"]), {}),
    "headless": lambda folders: (grafted(folders["headless"]), {"query_terms": 4, "document_terms": 6}),
    "albert": lambda folders: (grafted(folders["albert"]), {"pooling": "sum", "activation": LOG1P_TWICE}),
    "roberta": lambda folders: (grafted(folders["roberta"]), {"pooling": "cls"}),
    "modernbert": lambda folders: (grafted(folders["modernbert"]), {"pooled": "all"}),
    "words": lambda folders: (grafted(folders["bert"]), {"queries": BY_WORDS}),
    "expansions": lambda folders: (grafted(folders["bert"]), {"expansion_length": 4}),
    "plain": lambda folders: (plain(folders["bert"]), {"query_prompt": "kur: "}),
    "unicoil": lambda folders: (unicoil(folders["bert"]), {"expansion_length": 4}),
    "rule": lambda folders: (
        grafted(folders["bert"], rule=WordRule(fold_accents=True, split_camel_case=True), stemmer="german"), {}
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", some_always(FULL, ("headless", "words", "expansions", "unicoil", "rule")))
def test_the_full_form_loses_nothing(kind, folders, tmp_path):
    encoder, meta = FULL[kind](folders)
    path = saved(encoder, tmp_path / "model", **meta)
    exported(path, tmp_path / "out", "full")
    texts = [*TEXTS, "kura mel\x1etos vip. bru", "kúrMel Käse don't 3.14", "\ud800 한국"]
    theirs = assert_same_vectors(path, tmp_path / "out", texts, trusted=True)
    assert {name for name, _ in theirs.decode(theirs.encode_document("kura bru"))} <= set(encoder.vocabulary.terms)
    assert_comes_back(path, tmp_path / "out", tmp_path, "full")
    theirs.save_pretrained(str(tmp_path / "theirs"))  # what the library itself saves is the same model
    assert_same_vectors(path, tmp_path / "theirs", texts, trusted=True)


def test_a_table_that_expands_needs_the_full_form(folders, tmp_path):
    encoder = plain(folders["bert"])
    n_terms = len(encoder.vocabulary)
    terms = np.sort(np.stack([np.arange(n_terms), (np.arange(n_terms) + 3) % n_terms]), axis=0).T.ravel()
    weights = np.linspace(0.1, 1.0, 2 * n_terms).astype(np.float32)
    encoder.set_table(TableRows(np.arange(0, 2 * n_terms + 1, 2), terms.astype(np.int32), weights))
    path = saved(encoder, tmp_path / "model", **STOCK, queries=BY_TABLE)
    with pytest.raises(InputError, match=r"brings other terms along \(expansions\).*--form full"):
        exported(path, tmp_path / "out", "stock")
    exported(path, tmp_path / "out")
    assert_same_vectors(path, tmp_path / "out", trusted=True)
    assert_comes_back(path, tmp_path / "out", tmp_path)


def test_what_cannot_be_exported_is_said(folders, tmp_path):
    path = saved(grafted(folders["bert"]), tmp_path / "model")

    def refused(kind, wanted):
        with pytest.raises(kind) as error:
            export("sentence-transformers", wanted, tmp_path / "out")
        assert not (tmp_path / "out").exists()
        assert "\n" not in str(error.value)
        return str(error.value)

    said = refused(InputError, Wanted(path, form="stock"))
    assert "own words" in said and "pools over words only" in said and "--form full" in said
    assert "--form = 'half' is not allowed: one of stock, full" in refused(SettingError, Wanted(path, form="half"))
    assert "--qk has no meaning for sentence-transformers" in refused(SettingError, Wanted(path, qk=5))
    begun = saved(grafted(folders["bert"]), tmp_path / "begun", query_length=0, document_length=0)
    with write_artifact(tmp_path / "dense", Manifest(DENSE_KIND, DENSE_FORMAT, {})):
        pass
    assert "holds a dense-encoder, not a model" in refused(LexigraftError, Wanted(tmp_path / "dense"))
    assert "was pre-trained and not fine-tuned" in refused(InputError, Wanted(begun))
    assert "is neither a model nor a run with one" in refused(LexigraftError, Wanted(tmp_path))
    for changes, reason in (
        ({"pooling": "cls"}, r"\(cls\)"), ({"expansion_length": 3}, "what was added to them"),
        ({"queries": BY_WORDS}, "looked up by words"),
    ):  # fmt: skip
        other = saved(grafted(folders["bert"], own=False), tmp_path / "other", pooled="all", **changes)
        with pytest.raises(InputError, match=reason):
            exported(other, tmp_path / "out", "stock")


def test_what_cannot_be_taken_back_is_said(folders, tmp_path):
    path = saved(grafted(folders["bert"]), tmp_path / "model")
    exported(path, tmp_path / "out", "full")

    def refused(name, change):
        kept = (tmp_path / "out" / name).read_bytes()
        (tmp_path / "out" / name).write_bytes(change(kept))
        with pytest.raises(LexigraftError) as error:
            import_model(str(tmp_path / "out"), tmp_path / "back")
        assert not (tmp_path / "back").exists()
        (tmp_path / "out" / name).write_bytes(kept)
        return str(error.value)

    assert "which is not known" in refused("lexigraft.json", lambda kept: kept.replace(b'"full"', b'"fool"'))
    assert "cannot be read" in refused("lexigraft.json", lambda kept: kept[:50])
    assert "holds other terms" in refused("terms.json", lambda kept: kept.replace(b"kurmel", b"kurmol"))
    assert "has not the" in refused("terms.json", lambda kept: b"[]")
    refused("model.safetensors", lambda kept: kept[:1000])
    said = refused("backbone/config.json", lambda kept: kept.replace(b"{", b'{"auto_map": {"AutoModel": "x.Y"},', 1))
    assert "names code to be run" in said


def test_no_program_of_an_export_is_run(folders, tmp_path):
    path = saved(grafted(folders["bert"]), tmp_path / "model")
    exported(path, tmp_path / "out", "full")
    for name in ("lexigraft_module.py", "lexigraft_reading.py"):
        (tmp_path / "out" / name).write_text("raise SystemExit('it was run')\n")
    import_model(str(tmp_path / "out"), tmp_path / "back")
    np.testing.assert_array_equal(ours(tmp_path / "back", TEXTS, True), ours(path, TEXTS, True))


def test_the_card_has_what_a_hub_asks_for(folders, tmp_path):
    path = saved(grafted(folders["bert"]), tmp_path / "model")
    exported(path, tmp_path / "out")
    card = (tmp_path / "out/README.md").read_text()
    assert card.startswith("---\nlicense: other\n")
    assert "library_name: sentence-transformers" in card and "- custom_code" in card
    assert "`finetune.steps` = 2" in card and "trust_remote_code=True" in card
    assert str(folders["bert"]) not in card  # where it lay on this machine is nobody's business
    assert torch.__version__ not in card
