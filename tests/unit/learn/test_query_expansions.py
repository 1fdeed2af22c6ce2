"""A table distilled from a model, against the slow way: query by query, term by term, by what explains a vector."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import SettingError, VocabularyMismatchError
from lexigraft.core.types import Vocabulary
from lexigraft.core.word_rule import WordRule
from lexigraft.inference.reading import read_queries
from lexigraft.learn import query_expansions
from lexigraft.learn.query_expansions import FEWEST_QUERIES, distilled_table, table_source
from lexigraft.model import precision
from lexigraft.model.backbone import load_backbone
from lexigraft.model.encoder import FORMAT_VERSION, KIND, SparseEncoder, open_encoder, save_encoder
from lexigraft.model.head import SparseHead
from lexigraft.model.inputs import inputs_of
from lexigraft.model.term_origins import heaviest_terms
from lexigraft.model.torch_network import TorchNetwork
from lexigraft.model.trace import trace_terms
from lexigraft.vectors.text_encoder import TextEncoder
from lexigraft.vocab.lexicon import Lexicon

WORDS = ["a", "ab", "b", "bcd", "cc", "d", "dab", "ee", "f", "gab"]
NONE = np.zeros(0, np.int64)
QUERIES = [
    "ab bcd", "ab the d", "dab bcd ab", "", "unknown hhh", "bcd cc", "ab", "d d d bcd", "cc f", "f", "bcd f ab d",
    "a b ab bcd cc d dab ee f a b ab bcd cc d dab ee f gab",
]  # fmt: skip


@pytest.fixture(autouse=True)
def full_precision(monkeypatch):
    monkeypatch.setattr(precision, "has_fast_bf16", lambda: False)


def write_model(folder, pooling="max", pooled="words", own=True, queries="model", query_length=14, keep=0):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh", *(f"##{letter}" for letter in "abcdefgh")]
    transformers.BertTokenizerFast(vocab={piece: n for n, piece in enumerate(pieces)}).save_pretrained(folder / "bert")
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=40, **sizes)).save_pretrained(folder / "bert")
    head = SparseHead(torch.randn(len(WORDS), 16), torch.randn(len(WORDS)), torch.rand(len(WORDS)) if own else None)
    encoder = SparseEncoder(load_backbone(str(folder / "bert")), head, Vocabulary(WORDS), "random")
    encoder.meta = replace(
        encoder.meta, pooling=pooling, pooled=pooled, query_length=query_length, document_length=14, queries=queries,
        query_terms=keep,
    )  # fmt: skip
    with write_artifact(folder / "model", Manifest(KIND, FORMAT_VERSION, {})) as draft:
        save_encoder(encoder, draft)
    return folder / "model"


def lexicon():
    frequency = np.arange(1, len(WORDS) + 1)
    return Lexicon(Vocabulary(WORDS), "none", "none", WordRule(), [], NONE, NONE, frequency, 20, 3.0)


def slow_rows(path, idf, n_added):
    """Mean weights by term and what it brought, as dictionaries."""
    encoder = open_encoder(path)
    texts = TextEncoder(TorchNetwork(encoder), are_queries=True)
    counts, sums = dict.fromkeys(range(len(WORDS)), 0), {}

    def bring(text, origin_of):
        terms, weights = texts.encode([text])[0]
        for term, origin, weight in zip(terms.tolist(), origin_of(text, terms), weights.tolist(), strict=True):
            if origin >= 0:
                sums.setdefault(origin, {}).setdefault(term, []).append(weight)

    def origins(text, terms):
        read = read_queries(texts.network.reader, [text], encoder.meta.query_length)
        inputs = inputs_of(read, np.zeros(1, np.int64), encoder.tokenizer.special.pad, torch.device("cpu"))
        nothing_of_own = inputs._replace(bags=type(inputs.bags)(*(part[:0] for part in inputs.bags)))
        own = set(read.bags.terms.tolist())
        winners = trace_terms(encoder, nothing_of_own, terms).positions.tolist()
        return [
            term if term in own else int(read.aligned.terms[at])
            for term, at in zip(terms.tolist(), winners, strict=True)
        ]

    for text in QUERIES:
        for term in texts.network.reader.distinct_terms(text).tolist():
            counts[term] += 1
        if encoder.meta.pooling != "cls":
            bring(text, origins)
    for term, name in enumerate(WORDS):
        if counts[term] < FEWEST_QUERIES or encoder.meta.pooling == "cls":
            counts[term] = 1
            sums.pop(term, None)
            bring(name, lambda _, terms, term=term: [term] * len(terms))
    means = {term: {other: sum(found) / counts[term] for other, found in sums.get(term, {}).items()} for term in counts}
    own = {term: row.pop(term, 0.0) for term, row in means.items()}
    said = [weight for weight in own.values() if weight > 0]
    by_idf = idf / idf.mean() * (sum(said) / len(said))
    own = {term: weight or by_idf[term] for term, weight in own.items()}
    scale = len(own) / sum(own.values())
    rows = []
    for term, row in means.items():
        kept = sorted(row, key=lambda other, row=row: (-row[other], other))[:n_added]
        rows.append({term: own[term] * scale, **{other: row[other] * scale for other in kept}})
    return rows


@pytest.mark.parametrize("pooled", ["words", "all"])
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("pooling", ["max", "sum", "cls"])
def test_it_is_the_slow_way(pooling, own, pooled, tmp_path, monkeypatch):
    monkeypatch.setattr(query_expansions, "READ_AT_ONCE", 5)
    monkeypatch.setattr(query_expansions, "CPU_BATCH", 2)
    path = write_model(tmp_path, pooling, pooled, own)
    table = distilled_table(path, lexicon(), QUERIES, 3)
    expected = slow_rows(path, lexicon().idf, 3)
    assert table.n_terms == len(expected)
    for term, row in enumerate(expected):
        span = slice(table.indptr[term], table.indptr[term + 1])
        assert table.terms[span].tolist() == sorted(row)
        assert table.weights[span].tolist() == pytest.approx([row[other] for other in sorted(row)], rel=1e-4)
    assert len(table.terms) > 2 * len(WORDS)
    again = distilled_table(path, lexicon(), QUERIES, 3)
    assert all(one.tobytes() == other.tobytes() for one, other in zip(table, again, strict=True))


def test_only_what_the_model_keeps_is_brought(tmp_path):
    path = write_model(tmp_path, keep=1)
    encoder = open_encoder(path)
    read = read_queries(encoder.reader(), QUERIES, 14)
    inputs = inputs_of(read, np.arange(len(QUERIES)), encoder.tokenizer.special.pad, torch.device("cpu"))
    assert np.bincount(heaviest_terms(encoder, inputs, 1).rows).max() == 1
    assert heaviest_terms(encoder, inputs, 2).rows.tolist().count(0) == 2
    table = distilled_table(path, lexicon(), ["ab bcd"] * 3, 5)
    assert np.diff(table.indptr).max() <= 2  # itself, and the one term that is heaviest


def test_no_queries_leave_every_term_to_be_asked_alone(tmp_path):
    path = write_model(tmp_path)
    table = distilled_table(path, lexicon(), [], 2)
    encoder = TextEncoder(TorchNetwork(open_encoder(path)), are_queries=True)
    for term, (terms, weights) in enumerate(encoder.encode(WORDS)):
        others = sorted((-weight, other) for other, weight in zip(terms, weights, strict=True) if other != term)[:2]
        span = slice(table.indptr[term], table.indptr[term + 1])
        assert set(table.terms[span].tolist()) == {term, *(int(other) for _, other in others)}


def test_what_cannot_be_a_source(tmp_path):
    names = ("by-words", "pretrained", "good")
    for name in names:
        (tmp_path / name).mkdir()
    fingerprint = Vocabulary(WORDS).fingerprint
    assert table_source(str(write_model(tmp_path / "good")), fingerprint) == tmp_path / "good/model"
    with pytest.raises(VocabularyMismatchError, match="different vocabularies"):
        table_source(str(tmp_path / "good/model"), Vocabulary(["other"]).fingerprint)
    by_words = write_model(tmp_path / "by-words", queries="words")
    with pytest.raises(SettingError, match=r"has model\.queries = 'words': no model writes its queries"):
        table_source(str(by_words), fingerprint)
    with pytest.raises(SettingError, match="was not fine-tuned"):
        table_source(str(write_model(tmp_path / "pretrained", query_length=0)), fingerprint)
