"""Makes the inference form of a model (`inference.folder`), and compares what both write before it is used."""

import importlib.metadata
import logging
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from lexigraft.core.artifact import Manifest, read_manifest, write_artifact, write_json
from lexigraft.core.errors import ArtifactError
from lexigraft.core.manifest import require_manifest
from lexigraft.core.pinned import read_pinned
from lexigraft.core.types import Vocabulary
from lexigraft.inference.folder import (
    FACTS,
    FORMAT_VERSION,
    GRAPHS,
    KIND,
    TOKENIZER,
    WEIGHTS,
    WEIGHTS_8,
    InferenceFacts,
    Stored,
    form_beside,
)
from lexigraft.inference.graph_network import GraphNetwork
from lexigraft.inference.network import Network, Rows
from lexigraft.inference.reading import read_documents
from lexigraft.inference.session import open_session
from lexigraft.model.encoder import SparseEncoder, open_encoder
from lexigraft.model.graph_8bit import with_8_bits
from lexigraft.model.graph_bert import can_write, write_bert
from lexigraft.model.graph_body import export_body
from lexigraft.model.graph_files import WeightFile, with_raw_data
from lexigraft.model.graph_head import BIAS, HEAD, OWN, append_head
from lexigraft.model.torch_network import TorchNetwork

N_COMPARED, MOST_WORDS = 48, 60  # texts that both forms write when one is made, and words of the longest
FAR = 0.25  # of the heaviest weight: a graph of 8 bits that differs by more is not kept
TOLERANCE = 1e-3  # by which a weight in float32 may differ: sums of thousands of products in another order


log = logging.getLogger(__name__)


def make_form(model: Path, encoder: SparseEncoder | None = None) -> Path:
    """Write the inference form of the model at `model` beside it; `encoder` where it is open already, on the CPU. The
    manifest's notes have the largest difference of a weight from torch's."""
    if read_manifest(model) is None:
        raise ArtifactError(f"{model} is no model; give the folder of one")
    manifest, opened = read_pinned(
        model, lambda folder: (require_manifest(folder), open_encoder(folder) if encoder is None else encoder)
    )
    encoder = opened.cpu().eval()
    versions = {name: importlib.metadata.version(name) for name in ("torch", "onnx", "onnxruntime")}
    notes: dict[str, Any] = {"made_by": versions}
    target = form_beside(model)
    made = Manifest(KIND, FORMAT_VERSION, {}, {"model": manifest.fingerprint}, notes=notes)
    with write_artifact(target, made) as folder:
        facts = _write_files(encoder, folder)
        notes["largest_difference"] = _compare(encoder, model, folder, facts)
    return target


def graph_of(encoder: SparseEncoder, folder: Path, bits: int) -> GraphNetwork:
    """The graph of a model that lies nowhere, in an empty `folder`: to find out how long it takes."""
    facts = _write_files(encoder.cpu().eval(), folder)
    session = open_session(folder / GRAPHS[bits])
    return GraphNetwork(folder, folder, facts, session, encoder.vocabulary, meta=encoder.meta)


def _write_files(encoder: SparseEncoder, folder: Path) -> InferenceFacts:
    facts = _write_graphs(encoder, folder)
    write_json(folder / FACTS, facts.as_json())
    encoder.backbone.hf_tokenizer.backend_tokenizer.save(str(folder / TOKENIZER))
    return facts


def _write_graphs(encoder: SparseEncoder, folder: Path) -> InferenceFacts:
    body = encoder.body
    graph = write_bert(body) if can_write(body) else export_body(body, encoder.tokenizer.ordinary_ids[0])
    append_head(graph, encoder)
    with_raw_data(graph)
    eight = with_8_bits(graph)
    weights, weights_8 = WeightFile(folder / WEIGHTS, always=(HEAD, BIAS, OWN)), WeightFile(folder / WEIGHTS_8)
    try:
        weights.move_out(graph)
        weights_8.move_out(eight, others=weights)
    finally:
        weights.close()
        weights_8.close()
    onnx.save(graph, folder / GRAPHS[32])
    onnx.save(eight, folder / GRAPHS[8])
    places = weights.places
    head = Stored(places[f"{HEAD}.0"].offset, tuple(encoder.head.weight.shape))
    not_terms = TorchNetwork(encoder).not_terms
    return InferenceFacts(encoder.tokenizer.special, not_terms, head, places[BIAS], places.get(OWN))


def _compare(encoder: SparseEncoder, model: Path, folder: Path, facts: InferenceFacts) -> dict[str, float]:
    """The largest difference of a weight from torch's, by bits; raises where float32 differs by more than sums do."""
    vocabulary: Vocabulary = encoder.vocabulary
    texts, wanted = _texts(vocabulary, encoder.meta.document_length), TorchNetwork(encoder, exact=True)
    expected = _written(wanted, texts)
    differences = {}
    for bits, name in GRAPHS.items():
        session = open_session(folder / name)
        graph = GraphNetwork(model, folder, facts, session, vocabulary, threads=1, meta=encoder.meta)
        differences[str(bits)] = _largest_difference(_written(graph, texts), expected, len(vocabulary))
    heaviest = max(1.0, float(expected.weights.max(initial=0)))
    if not differences["32"] <= TOLERANCE * heaviest:
        raise ArtifactError(
            f"the graph of the model at {model} writes other weights than torch: they differ by up to "
            f"{differences['32']:.3g}; this version of torch or onnxruntime cannot take it over"
        )
    if not differences["8"] <= FAR * heaviest:
        for name in (GRAPHS[8], WEIGHTS_8):
            (folder / name).unlink()
        log.warning("in 8 bits the model at %s writes other weights (by %.2g): it keeps 32", model, differences["8"])
    return differences


def _texts(vocabulary: Vocabulary, longest: int) -> list[str]:
    """Texts of terms drawn from the vocabulary: short and long ones, one that is read to its end at least, and one
    without words."""
    draw = np.random.default_rng(0)
    lengths = [*np.linspace(1, MOST_WORDS, N_COMPARED).astype(int), longest]
    names = vocabulary.terms
    return ["", *(" ".join(names[int(at)] for at in draw.integers(len(names), size=length)) for length in lengths)]


def _written(network: Network, texts: list[str]) -> Rows:
    meta = network.meta
    read = read_documents(meta, network.reader, texts, meta.document_length)
    return network.write(read, are_queries=False)


def _largest_difference(ours: Rows, theirs: Rows, n_terms: int) -> float:
    """Over all terms of all texts; one that only one side has counts with its whole weight."""

    def keyed(rows: Rows) -> tuple[np.typing.NDArray[np.int64], np.typing.NDArray[np.float32]]:
        texts = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
        return texts * n_terms + rows.terms, rows.weights

    (left, left_weights), (right, right_weights) = keyed(ours), keyed(theirs)
    keys = np.union1d(left, right)
    dense = np.zeros((2, len(keys)))
    dense[0, np.searchsorted(keys, left)] = left_weights
    dense[1, np.searchsorted(keys, right)] = right_weights
    return float(np.abs(dense[0] - dense[1]).max(initial=0))
