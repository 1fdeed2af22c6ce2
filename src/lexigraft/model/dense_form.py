"""Makes the inference form of a dense encoder (`inference.dense_graph`), and compares what both write before it is
used."""

import importlib.metadata
import logging
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from lexigraft.core.artifact import Manifest, read_manifest, write_artifact
from lexigraft.core.errors import ArtifactError
from lexigraft.core.manifest import require_manifest
from lexigraft.core.pinned import read_pinned
from lexigraft.inference.dense_graph import DenseGraph
from lexigraft.inference.dense_meta import FORM_FORMAT, FORM_KIND, embed
from lexigraft.inference.folder import GRAPHS, TOKENIZER, WEIGHTS, WEIGHTS_8, form_beside
from lexigraft.inference.session import open_session
from lexigraft.model.backbone import Body
from lexigraft.model.dense_encoder import DenseEncoder, TorchDense, open_dense_encoder
from lexigraft.model.graph_8bit import with_8_bits
from lexigraft.model.graph_bert import can_write, write_bert
from lexigraft.model.graph_body import export_body
from lexigraft.model.graph_files import WeightFile, with_raw_data
from lexigraft.model.graph_nodes import FLOAT, Nodes

N_COMPARED, MOST_WORDS = 48, 60  # texts that both forms embed when one is made, and subwords of the longest
TOLERANCE = 1e-3  # by which a cosine with torch's vector may miss 1 in float32: sums in another order
FAR = 0.05  # the same of 8 bits: a graph that misses it by more is not kept

log = logging.getLogger(__name__)


def make_dense_form(path: Path, encoder: DenseEncoder | None = None) -> Path:
    """Write the inference form of the dense encoder at `path` beside it; `encoder` where it is open already. The
    manifest's notes have the smallest cosine with torch's vectors, by bits."""
    if read_manifest(path) is None:
        raise ArtifactError(f"{path} is no dense encoder; give the folder of one")
    manifest, opened = read_pinned(
        path, lambda folder: (require_manifest(folder), open_dense_encoder(folder) if encoder is None else encoder)
    )
    encoder = opened.cpu().eval()
    versions = {name: importlib.metadata.version(name) for name in ("torch", "onnx", "onnxruntime")}
    notes: dict[str, Any] = {"made_by": versions}
    target = form_beside(path)
    made = Manifest(FORM_KIND, FORM_FORMAT, {}, {"model": manifest.fingerprint}, notes=notes)
    with write_artifact(target, made) as folder:
        _write_graphs(encoder, folder)
        notes["smallest_cosine"] = _compare(encoder, folder)
    return target


def _write_graphs(encoder: DenseEncoder, folder: Path) -> None:
    body = Body(encoder.model, has_mlm_head=False)
    graph = write_bert(body) if can_write(body) else export_body(body, encoder.subwords.ordinary_ids[0])
    _append_mean(Nodes(graph.graph), encoder.meta.width)
    with_raw_data(graph)
    eight = with_8_bits(graph)
    weights, weights_8 = WeightFile(folder / WEIGHTS), WeightFile(folder / WEIGHTS_8)
    try:
        weights.move_out(graph)
        weights_8.move_out(eight, others=weights)
    finally:
        weights.close()
        weights_8.close()
    onnx.save(graph, folder / GRAPHS[32])
    onnx.save(eight, folder / GRAPHS[8])
    raw = encoder.hf_tokenizer.backend_tokenizer
    raw.no_truncation()
    raw.save(str(folder / TOKENIZER))


def _append_mean(nodes: Nodes, width: int) -> None:
    """The mean over the tokens of texts of one length, which have no padding, divided by its length."""
    mean = nodes.add("ReduceMean", "hidden", nodes.constant([1]), keepdims=0)
    length = nodes.add("ReduceL2", mean, nodes.constant([1]), keepdims=1)
    length = nodes.add("Max", length, nodes.constant([1e-12], np.float32))
    nodes.add("Div", mean, length, out="vectors")
    nodes.output("vectors", FLOAT, ["texts", width])


def _compare(encoder: DenseEncoder, folder: Path) -> dict[str, float]:
    """The smallest cosine of a vector with torch's, by bits; raises where float32 differs by more than sums do."""
    texts, expected = _texts(encoder), TorchDense(encoder, exact=True)
    wanted, found = embed(expected, texts, are_queries=False), {}
    for bits, name in GRAPHS.items():
        graph = DenseGraph(encoder.meta, folder, open_session(folder / name), threads=1)
        found[str(bits)] = float((embed(graph, texts, are_queries=False) * wanted).sum(1).min())
    if not found["32"] >= 1 - TOLERANCE:
        raise ArtifactError(
            f"the graph of the dense encoder gives other vectors than torch: a cosine is {found['32']:.4f}; this "
            "version of torch or onnxruntime cannot take it over"
        )
    if not found["8"] >= 1 - FAR:
        for name in (GRAPHS[8], WEIGHTS_8):
            (folder / name).unlink()
        log.warning("in 8 bits the dense encoder gives other vectors (a cosine of %.3f): it keeps 32", found["8"])
    return found


def _texts(encoder: DenseEncoder) -> list[str]:
    """Texts of subwords drawn from the tokenizer: short and long ones, and one without words."""
    draw, tokenizer = np.random.default_rng(0), encoder.hf_tokenizer
    ordinary = np.array(encoder.subwords.ordinary_ids)
    drawn = (draw.choice(ordinary, size=length) for length in np.linspace(1, MOST_WORDS, N_COMPARED).astype(int))
    return ["", *(str(tokenizer.decode(ids.tolist())) for ids in drawn)]
