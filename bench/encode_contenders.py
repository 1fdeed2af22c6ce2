"""One contender of `bench.encode_documents`, in a process of its own and in whichever environment it needs.

    python -m bench.encode_contenders JOB.json

The job names a contender, its model, a file with a list of texts, cores, length and batch size; what is printed, and
the vectors where a file for them is named, is what the contender made of them. The first lines import the standard
library alone: opening a model is to be paid with all that it imports.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Encode = Callable[[list[str]], Any]
SHAPE, REPEATS = 2048, 5  # of the matrices whose product tells how fast this machine multiplies


def open_lexigraft(job: dict[str, Any]) -> Encode:
    from lexigraft.vectors.open_network import open_network
    from lexigraft.vectors.text_encoder import TextEncoder

    network = open_network(Path(job["model"]), job["bits"], threads=job["cores"])
    return TextEncoder(network, are_queries=False).encode_rows


def open_former(job: dict[str, Any]) -> Encode:
    """Lexigraft as it was before models had an inference form: torch."""
    from lexigraft.model.encoder import open_encoder
    from lexigraft.vectors.encode import TextEncoder

    return TextEncoder(open_encoder(Path(job["model"])), "document").encode


def open_sentence_transformers(job: dict[str, Any]) -> Encode:
    from sentence_transformers import SparseEncoder

    settings: dict[str, Any] = {}
    if job["backend"] == "onnx":
        import onnxruntime

        threads = onnxruntime.SessionOptions()
        threads.intra_op_num_threads = job["cores"]  # it does not see how many cores a process may use
        settings = {
            "backend": "onnx",
            "model_kwargs": {
                "file_name": job["file_name"],
                "provider": "CPUExecutionProvider",
                "session_options": threads,
            },
        }
    model = SparseEncoder(job["model"], device="cpu", **settings)
    model.max_seq_length = job["length"]
    return lambda texts: model.encode_document(texts, batch_size=job["batch"], show_progress_bar=False)


def open_sgemm(job: dict[str, Any]) -> Encode:
    """No encoder: how many GFLOP/s numpy's product of two large matrices reaches."""
    import numpy as np

    square = np.random.default_rng(0).standard_normal((SHAPE, SHAPE), np.float32)

    def multiply(_: list[str]) -> float:
        best = min(_seconds(lambda: square @ square) for _ in range(REPEATS))
        return 2 * SHAPE**3 / best / 1e9

    return multiply


OPENERS = {
    "lexigraft": open_lexigraft,
    "former": open_former,
    "sentence-transformers": open_sentence_transformers,
    "sgemm": open_sgemm,
}


def export_onnx(job: dict[str, Any]) -> None:
    """Write sentence-transformers' ONNX files of a model: in float32, and in 8 bits as it makes them for this CPU."""
    import platform

    from sentence_transformers import SparseEncoder, export_dynamic_quantized_onnx_model

    model = SparseEncoder(job["model"], device="cpu", backend="onnx", model_kwargs={"export": True})
    model.save_pretrained(job["out"])
    kind = "arm64" if platform.machine() in ("aarch64", "arm64") else "avx2"
    export_dynamic_quantized_onnx_model(model, kind, job["out"], file_suffix="8bit")


def _seconds(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def busy_seconds() -> float:
    """How long the cores of this machine have computed since it started, whoever they computed for."""
    user, nice, system, _, _, interrupts, soft_interrupts = map(int, Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + interrupts + soft_interrupts) / os.sysconf("SC_CLK_TCK")


def _peak_mib() -> float:
    """Of this process alone: what `wait4` tells begins with its parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def _save(path: str, found: Any) -> None:
    """The vectors as (indptr, terms, weights), whichever way a contender gives them."""
    import numpy as np

    if hasattr(found, "to_sparse_csr"):
        rows = found.to_sparse_csr()
        parts = [part.numpy() for part in (rows.crow_indices(), rows.col_indices(), rows.values())]
    elif isinstance(found, list):
        indptr = np.cumsum([0, *(len(terms) for terms, _ in found)])
        parts = [indptr, *(np.concatenate(column) for column in zip(*found, strict=True))]
    else:
        parts = list(found)
    np.savez(path, indptr=parts[0], terms=parts[1], weights=parts[2])


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    if job["contender"] == "export":
        export_onnx(job)
        return
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: job["cores"]])
    texts = json.loads(Path(job["texts"]).read_text())
    start = time.perf_counter()
    encode = OPENERS[job["contender"]](job)
    encode(texts[:1])
    opened = time.perf_counter() - start
    start, computed, machine = time.perf_counter(), time.process_time(), busy_seconds()
    found = encode(texts)
    seconds, computed, machine = (
        time.perf_counter() - start,
        time.process_time() - computed,
        busy_seconds() - machine,
    )
    result: dict[str, Any] = {
        "open_s": opened,
        "encode_s": seconds,
        "cpu_s": computed,
        "others_cores": max(0.0, machine - computed) / seconds,
        "peak_mib": _peak_mib(),
    }
    if job["contender"] == "sgemm":
        result["gflops"] = found
    if "save" in job:
        _save(job["save"], found)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
