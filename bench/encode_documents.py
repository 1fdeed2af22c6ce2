"""Documents a second and peak memory of encoding: Lexigraft beside sentence-transformers, with the same weights.

    python -m bench.encode_documents --data DIR [--length 128] [--documents 200] [--rounds 3] [--cores 1 2]
        [--former CHECKOUT/src] [--onnx-python PYTHON] [--patience SECONDS] [--out FILE.json]

A SPLADE model is made of the packaged all-MiniLM-L6-v2 (`bench.splade_folder`), saved as sentence-transformers keeps
it, and imported by `lexigraft model import`. Documents are spread evenly over the collection. All contenders write some
of them first: what is printed begins with the largest difference of a weight from sentence-transformers' by torch, and
more than rounding in float32 is an error. Then each encodes all of them in a process of its own, in turns;
sentence-transformers has the batch size that was better in the first round. Medians are printed as JSON, with the time
that opening a model and encoding one text takes, which documents a second leave out. With `--out`, the
collection's result is added to those that the file has.

Others may use the machine meanwhile, and a contender that gets one core of two is as fast as on one: `others_cores`
says how many cores they had while it encoded, and where that is more than a tenth of one, documents a second on all
cores mean nothing. `--patience` waits so long at most, before each, until they are quiet.

`--former` is the source folder of a Lexigraft that had no inference form, and encoded by torch.

sentence-transformers' ONNX backend needs an older transformers than the rest does, so it gets an environment of its
own, whose interpreter is what `--onnx-python` names:

    python -m venv .venv-onnx
    .venv-onnx/bin/pip install torch==2.13.0 'sentence-transformers[onnx]' 'transformers<4.58'
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import lexigraft
from bench.encode_contenders import busy_seconds
from bench.splade_folder import write_splade
from lexigraft.data.sources import open_source
from lexigraft.inference.meta import read_meta
from lexigraft.inference.reading import pooled_tokens, read_documents
from lexigraft.learn.import_model import import_model
from lexigraft.vectors.open_network import open_network

ACTIVE_TERMS, N_SAMPLE, N_COMPARED = 200, 32, 24
TOLERANCE = 2e-4  # in float32: sums in another order, and weights below 1e-4, which are left out
BATCHES = (32, 64)
OURS, THEIRS, SGEMM = "lexigraft 8 bits", f"sentence-transformers torch, batch {BATCHES[0]}", "sgemm"
IN_8_BITS = "8 bits"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--former", type=Path)
    parser.add_argument("--onnx-python", type=Path)
    parser.add_argument("--patience", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        result = compare(options, Path(scratch))
    found = json.loads(options.out.read_text()) if options.out and options.out.exists() else {}
    found[options.data.name] = {**found.get(options.data.name, {}), **result}
    text = json.dumps(found, indent=2)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


def compare(options: argparse.Namespace, work: Path) -> dict[str, Any]:
    """All that is told of one collection."""
    texts = spread(options.data, options.documents)
    (work / "few.json").write_text(json.dumps(texts[:N_COMPARED]))
    (work / "all.json").write_text(json.dumps(texts))
    write_splade(work / "theirs", texts[:N_SAMPLE], options.length, ACTIVE_TERMS)
    import_model(str(work / "theirs"), work / "ours", options.length, options.length)
    jobs = contenders(options, work)
    result: dict[str, Any] = {
        "machine": f"{platform.machine()}, {len(os.sched_getaffinity(0))} cores",
        "rounds": options.rounds,
        "length": options.length,
        **work_of(work, texts, options.length),
        "difference_from_sentence_transformers": differences(jobs, work),
    }
    for cores in options.cores:
        first = one_round(jobs, work, cores, options.patience)
        kept = {name: job for name, job in jobs.items() if is_better_batch(name, first)}
        rounds = [first, *(one_round(kept, work, cores, options.patience) for _ in range(options.rounds - 1))]
        result[f"{cores} core{'s' * (cores > 1)}"] = summary(rounds, result)
    return result


def spread(data: Path, n_documents: int) -> list[str]:
    """So many documents of a collection, at even distances."""
    n_all = sum(1 for _ in open_source(str(data)).documents())
    wanted = set(np.linspace(0, n_all - 1, min(n_documents, n_all)).astype(int).tolist())
    stream = enumerate(open_source(str(data)).documents())
    return [document.contents for place, document in stream if place in wanted]


def contenders(options: argparse.Namespace, work: Path) -> dict[str, dict[str, Any]]:
    """By name, the job of each (`bench.encode_contenders`), and the interpreter and sources that it takes."""
    here = {"python": sys.executable, "source": str(Path(lexigraft.__file__).parents[1])}
    ours = {**here, "contender": "lexigraft", "model": str(work / "ours")}
    theirs = {**here, "contender": "sentence-transformers", "model": str(work / "theirs"), "length": options.length}
    jobs: dict[str, dict[str, Any]] = {SGEMM: {**here, "contender": "sgemm"}}
    jobs |= {f"lexigraft {bits} bits": {**ours, "bits": bits} for bits in (8, 32)}
    if options.former:
        jobs["lexigraft before, torch"] = {**ours, "contender": "former", "source": str(options.former)}
    kinds: dict[str, dict[str, Any]] = {"torch": {"backend": "torch"}}
    if options.onnx_python:
        exported = {**theirs, "python": str(options.onnx_python), "model": str(work / "exported")}
        run({**exported, "contender": "export", "model": theirs["model"], "out": exported["model"]}, work, 1)
        for name, file_name in (("onnx", "onnx/model.onnx"), ("onnx 8 bits", "onnx/model_8bit.onnx")):
            kinds[name] = {**exported, "backend": "onnx", "file_name": file_name}
    for name, kind in kinds.items():
        for batch in BATCHES:
            jobs[f"sentence-transformers {name}, batch {batch}"] = {**theirs, **kind, "batch": batch}
    return jobs


def run(job: Mapping[str, Any], work: Path, cores: int) -> Any:
    """What a job prints, run in a process of its own on so many cores."""
    path = work / "job.json"
    path.write_text(json.dumps({"texts": str(work / "all.json"), **job, "cores": cores}))
    threads = {f"{library}_NUM_THREADS": str(cores) for library in ("OMP", "OPENBLAS")}
    environment = {**os.environ, **threads, "PYTHONPATH": job["source"], "HF_HUB_OFFLINE": "1"}
    command = [job["python"], "-m", "bench.encode_contenders", str(path)]
    folder = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{job['contender']} failed:\n{done.stderr[-4000:]}")
    return json.loads(done.stdout) if done.stdout.strip() else None


def work_of(work: Path, texts: list[str], length: int) -> dict[str, Any]:
    """What there is to do: tokens, and products of numbers, each a multiplication and an addition. Attention's are left
    out: they have no weights."""
    from safetensors import safe_open

    network = open_network(work / "ours", 32)
    aligned = read_documents(network.meta, network.reader, texts, length).aligned
    n_tokens, n_pooled = len(aligned.subwords), int(pooled_tokens(aligned, network.meta.pooled).sum())
    with safe_open(work / "theirs" / "model.safetensors", "np") as file:
        sizes = {name: int(np.prod(file.get_slice(name).get_shape())) for name in file.keys()}  # noqa: SIM118
    kinds = tuple(f"{part}.weight" for part in ("query", "key", "value", "dense"))
    matrices = [size for name, size in sizes.items() if name.endswith(kinds)]
    head = next(size for name, size in sizes.items() if name.endswith("word_embeddings.weight"))
    return {
        "documents": len(texts),
        "tokens": n_tokens,
        "gflop": round(2 * (sum(matrices) * n_tokens + head * n_pooled) / 1e9, 1),
    }


def differences(jobs: Mapping[str, Mapping[str, Any]], work: Path) -> dict[str, dict[str, float]]:
    """Of each contender the largest difference of a weight, and the smallest cosine of two vectors of one text."""
    found = {}
    for name, job in jobs.items():
        if name != SGEMM and not name.endswith(f"batch {BATCHES[1]}"):
            path = work / "vectors.npz"
            run({**job, "texts": str(work / "few.json"), "save": str(path)}, work, 1)
            found[name] = dense(path, read_meta(work / "ours").n_terms)
    expected, told = found[THEIRS], {}
    for name, vectors in found.items():
        largest = float(np.abs(vectors - expected).max())
        if IN_8_BITS not in name and largest > TOLERANCE:
            raise RuntimeError(f"{name} writes other vectors: a weight differs by {largest}")
        norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(expected, axis=1)
        told[name] = {
            "largest": float(f"{largest:.2g}"),
            "smallest_cosine": round(float(((vectors * expected).sum(axis=1) / norms).min()), 4),
            "mean_terms": round(float((vectors > 0).sum(axis=1).mean()), 1),
        }
    return told


def dense(path: Path, n_terms: int) -> np.typing.NDArray[np.float32]:
    stored = np.load(path)
    vectors = np.zeros((len(stored["indptr"]) - 1, n_terms), np.float32)
    texts = np.repeat(np.arange(len(vectors)), np.diff(stored["indptr"]))
    vectors[texts, stored["terms"]] = stored["weights"]
    return vectors


def wait_for_quiet(patience: int) -> None:
    """Until others use less than a tenth of a core, but no longer than `patience` seconds."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        before = busy_seconds()
        time.sleep(2)
        if busy_seconds() - before < 0.1 * 2:
            return


def one_round(
    jobs: Mapping[str, Mapping[str, Any]], work: Path, cores: int, patience: int
) -> dict[str, dict[str, float]]:
    found = {}
    for name, job in jobs.items():
        wait_for_quiet(patience)
        found[name] = run(job, work, cores)
        print(f"{cores} core(s), {name}: {found[name]}", file=sys.stderr, flush=True)
    return found


def is_better_batch(name: str, first: Mapping[str, Mapping[str, float]]) -> bool:
    """Whether no other batch size of the same contender was faster in the first round."""
    kin = [other for other in first if other.partition(", batch")[0] == name.partition(", batch")[0]]
    return first[name]["cpu_s"] == min(first[other]["cpu_s"] for other in kin)


def summary(rounds: Sequence[Mapping[str, Mapping[str, float]]], amount: Mapping[str, Any]) -> dict[str, Any]:
    """Medians over rounds of all that ran in each; of batch sizes that lost, the rate. `documents_per_cpu_s`: by the
    time that was computed on all cores; it differs little where others use them too. `times_ours`, `times_our_cpu`: how
    many times as long as Lexigraft in 8 bits it takes, round by round."""

    def median(name: str, key: str) -> float:
        return statistics.median(found[name][key] for found in rounds)

    def ratio(name: str, key: str) -> float:
        return round(statistics.median(found[name][key] / found[OURS][key] for found in rounds), 2)

    rows: dict[str, Any] = {
        "sgemm_gflops": round(median(SGEMM, "gflops"), 1),
        "sgemm_others_cores": round(median(SGEMM, "others_cores"), 2),
    }
    for name, found in rounds[0].items():
        if name == SGEMM:
            continue
        if name not in rounds[-1]:
            rows[name] = {"documents_per_s_in_first_round": round(amount["documents"] / found["encode_s"], 2)}
            continue
        seconds = median(name, "encode_s")
        rows[name] = {
            "documents_per_s": round(amount["documents"] / seconds, 2),
            "documents_per_cpu_s": round(amount["documents"] / median(name, "cpu_s"), 2),
            "tokens_per_s": round(amount["tokens"] / seconds),
            "gflops": round(amount["gflop"] / seconds, 1),
            "others_cores": round(median(name, "others_cores"), 2),
            "peak_mib": round(median(name, "peak_mib")),
            "open_s": round(median(name, "open_s"), 2),
            "times_ours": ratio(name, "encode_s"),
            "times_our_cpu": ratio(name, "cpu_s"),
        }
    return rows


if __name__ == "__main__":
    main()
