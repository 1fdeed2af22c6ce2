"""Documents a second of encoding on a GPU: Lexigraft beside sentence-transformers, with the same weights.

    python -m bench.encode_gpu --data COLLECTION --tokenizer DIR [--terms 100000] [--length 128] [--active 250]
        [--documents 0] [--batches 32 128 256] [--rounds 3] [--out FILE.json]

The encoder has the size of MiniLM (6 layers, width 384), drawn at random, with a head of so many terms: the words of
the collection, and made-up ones beyond those. Its biases are lowered until documents have `--active` terms. Both read
the same texts up to `--length` subwords, ours without punctuation, and pool all tokens; `cosines` are between both
vectors of the same text where it has none. Ours is what `lexigraft encode` does, from documents
in memory to a folder of vectors on disk; theirs is `SparseEncoder.encode` to one sparse tensor on the CPU, in bfloat16,
of an eighth of the texts, by the batch size of `--batches` that is fastest. Rounds are in turns, and medians are told.
What ours takes without other processes that read, and without kernels of our own, is told beside, and where its
process spends the time of one more run: waiting for readers, beginning batches (with what it waits for a GPU there),
fetching the last batch, writing names, and writing rows. The disk's own rate is told, and ours with files in memory.
"""

import argparse
import copy
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

MEMORY = "/dev/shm"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder of a BERT tokenizer")
    parser.add_argument("--terms", type=int, default=100_000)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--active", type=int, default=250)
    parser.add_argument("--documents", type=int, default=0, help="0: all")
    parser.add_argument("--batches", type=int, nargs="+", default=[32, 128, 256])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    report = compare(options)
    text = json.dumps(report, indent=2)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


def compare(options: argparse.Namespace) -> dict[str, Any]:
    import torch

    from bench.splade_peer import peer_of
    from lexigraft.data.sources import open_source
    from lexigraft.model.torch_network import TorchNetwork
    from lexigraft.vectors.text_encoder import TextEncoder

    documents = list(open_source(str(options.data)).documents())[: options.documents or None]
    encoder, tokenizer = made_encoder(options, documents)
    texts = [document.contents for document in documents]
    half = copy.deepcopy(encoder).bfloat16() if torch.cuda.is_available() else encoder
    theirs = peer_of(half, tokenizer, options.length)
    network = TorchNetwork(encoder)

    def ours(n: int = len(documents), where: str | None = None) -> None:
        torch.backends.cuda.enable_cudnn_sdp(False)  # as whoever asks for our device does
        write_vectors(documents[:n], network, where)

    def peers(batch: int, some: list[str] = texts) -> Any:
        torch.backends.cuda.enable_cudnn_sdp(True)  # as it is without us
        return theirs.encode(
            some, batch_size=batch, convert_to_sparse_tensor=True, save_to_cpu=True, show_progress_bar=False
        )

    few = max(64, len(texts) // 8)
    words = [" ".join(re.findall("[A-Za-z0-9]+", text)) for text in texts[:64]]
    rows, kept = TextEncoder(network, are_queries=False).encode_rows(words), peers(options.batches[0], words)
    report: dict[str, Any] = {
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
        "cores": len(os.sched_getaffinity(0)),
        "documents": len(texts),
        "length": options.length,
        "terms": options.terms,
        "terms_a_document": round(len(rows.terms) / 64, 1),
        "cosines": cosines(rows, kept),
    }
    print("made", file=sys.stderr, flush=True)
    tried = {batch: seconds_of(lambda batch=batch: peers(batch, texts[:few])) for batch in options.batches}  # type: ignore[misc]
    best = min(tried, key=tried.__getitem__)
    ours(few)  # kernels compile
    found: dict[str, list[float]] = {"lexigraft": [], "sentence-transformers": []}
    for _ in range(options.rounds):
        found["lexigraft"].append(len(texts) / seconds_of(ours))
        found["sentence-transformers"].append(few / seconds_of(lambda: peers(best, texts[:few])))
    if Path(MEMORY).is_dir():
        found["lexigraft, files in memory"] = [len(texts) / seconds_of(lambda: ours(where=MEMORY))]
    report["disk_mib_a_second"] = disk_rate()
    with mock.patch.object(TorchNetwork, "n_readers", 0):
        found["lexigraft, one process reads"] = [len(texts) / seconds_of(ours)]
    with mock.patch.dict(os.environ, LEXIGRAFT_HEAD="torch"):
        found["lexigraft, torch's products"] = [len(texts) / seconds_of(ours)]
    report["seconds_of_one_run"] = phases(network, ours)
    rate = {name: round(statistics.median(rates)) for name, rates in found.items()}
    report["batches_tried"] = {str(batch): round(few / seconds) for batch, seconds in tried.items()}
    report |= {"batch": best, "documents_a_second": rate}
    report["rates"] = {name: [round(value) for value in rates] for name, rates in found.items()}
    report["times_as_many"] = round(rate["lexigraft"] / rate["sentence-transformers"], 2)
    return report


def disk_rate(mib: int = 128) -> int:
    """Of the disk that vectors are written to, by pieces of a mebibyte."""
    piece = os.urandom(1 << 20)
    with tempfile.NamedTemporaryFile() as file:
        start = time.perf_counter()
        for _ in range(mib):
            file.write(piece)
        file.flush()
        return round(mib / (time.perf_counter() - start))


def seconds_of(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    seconds = time.perf_counter() - start
    print(f"{seconds:.2f} s", file=sys.stderr, flush=True)
    return seconds


def phases(network: Any, run: Callable[[], object]) -> dict[str, float]:
    """Where the process that writes spends its time."""
    from lexigraft.vectors import encode

    spent = dict.fromkeys(("waiting for readers", "beginning", "fetching", "names", "rows"), 0.0)

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                spent[name] += time.perf_counter() - start

        return call

    def begin(*arguments: Any) -> Any:
        return timed("fetching", timed("beginning", type(network).begin)(network, *arguments))

    def read_ahead(*arguments: Any) -> Iterator[Any]:
        batches = encode_read_ahead(*arguments)
        take = timed("waiting for readers", lambda: next(batches, None))
        while (found := take()) is not None:
            yield found

    encode_read_ahead, writer = encode.read_ahead, encode.DocumentRowsWriter
    with (
        mock.patch.object(network, "begin", begin),
        mock.patch.object(encode, "read_ahead", read_ahead),
        mock.patch.object(writer, "append_names", timed("names", writer.append_names)),
        mock.patch.object(writer, "append_rows", timed("rows", writer.append_rows)),
    ):
        total = seconds_of(run)
    return {**{name: round(value, 2) for name, value in spent.items()}, "total": round(total, 2)}


def write_vectors(documents: list[Any], network: Any, where: str | None = None) -> None:
    from lexigraft.vectors.encode import encode_with_model

    with tempfile.TemporaryDirectory(dir=where) as folder:
        encode_with_model(iter(documents), network, {}, Path(folder))


def cosines(rows: Any, theirs: Any) -> dict[str, float]:
    """Between our vectors and theirs."""
    import torch

    ours = torch.zeros(theirs.shape)
    for row in range(len(rows.indptr) - 1):
        span = slice(int(rows.indptr[row]), int(rows.indptr[row + 1]))
        ours[row, torch.as_tensor(rows.terms[span].astype("int64"))] = torch.as_tensor(rows.weights[span])
    dense = theirs.coalesce().to_dense().float()
    found = torch.nn.functional.cosine_similarity(ours, dense)[ours.any(1)]
    return {"least": round(float(found.min()), 4), "median": round(float(found.median()), 4)}


def made_encoder(options: argparse.Namespace, documents: list[Any]) -> tuple[Any, Any]:
    """A head of the collection's words over a backbone drawn at random, and the tokenizer that theirs reads by."""
    from transformers import AutoTokenizer

    from bench.training_step import made_up_encoder
    from lexigraft.core.types import Vocabulary
    from lexigraft.inference.meta import ALL_TOKENS
    from lexigraft.inference.reading import read_documents
    from lexigraft.model.backbone import default_device
    from lexigraft.train.quieten import quieten
    from lexigraft.vocab.counting import count_words
    from lexigraft.vocab.subwords import SubwordTokenizer, spelling_words

    hf_tokenizer = AutoTokenizer.from_pretrained(options.tokenizer)
    words = [word for word, _ in count_words(d.contents for d in documents[:20_000]).most_common(options.terms)]
    vocabulary = Vocabulary([*words, *(f"made{number}up" for number in range(options.terms - len(words)))])
    encoder = made_up_encoder(options.terms)
    special = encoder.tokenizer.special
    backend = copy.deepcopy(hf_tokenizer.backend_tokenizer)
    backend.no_padding()
    backend.no_truncation()
    tokenizer = SubwordTokenizer(spelling_words(backend), special, needs_space=False)
    object.__setattr__(encoder.backbone, "tokenizer", tokenizer)
    object.__setattr__(encoder.backbone, "hf_tokenizer", hf_tokenizer)
    encoder.vocabulary = vocabulary
    encoder.meta = replace(
        encoder.meta, pooled=ALL_TOKENS, own_words=True, document_length=options.length, query_length=options.length,
        vocab_fingerprint=vocabulary.fingerprint, head="grafted",
    )  # fmt: skip
    assert encoder.head.own is not None
    encoder.head.own.data.zero_()  # theirs has no such rule
    encoder = encoder.to(default_device()).eval()
    sample = [document.contents for document in documents[:: max(1, len(documents) // 256)]]
    quieten(encoder, read_documents(encoder.meta, encoder.reader(), sample, options.length), options.active)
    return encoder, hf_tokenizer


if __name__ == "__main__":
    main()
