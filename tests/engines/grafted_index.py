"""A grafted index of cranfield, for other programs to rank by: vectors are sums of a random one for each word, so that
no encoder is needed."""

import gzip
import json
import os
import re
from pathlib import Path
from zlib import crc32

import numpy as np

from lexigraft.core.settings import GraftedSettings, IndexSettings, Settings
from lexigraft.learn.grafting import graft_alone
from lexigraft.stages.standalone import build

DATA = os.environ.get("LEXIGRAFT_DATA")
WIDTH = 64


def grafted_cranfield(folder: Path, bits: int) -> tuple[Path, dict[str, str]]:
    """The index, made at `folder`, and the queries' texts."""
    data = Path(str(DATA)) / "cranfield"
    texts = [f"{record.get('title', '')} {record['text']}" for record in _records(data / "corpus.jsonl.gz")]
    file = folder.with_name("vectors.npy")
    np.save(file, np.array([_vector(text) for text in texts], np.float32))
    settings = Settings(index=IndexSettings(bits=bits), grafted=GraftedSettings(vectors=str(file)))
    build(str(data), folder, settings, improve=graft_alone)
    return folder, {record["_id"]: record["text"] for record in _records(data / "queries.jsonl.gz")}


def _records(file: Path) -> list[dict[str, str]]:
    with gzip.open(file, "rt") as lines:
        return [json.loads(line) for line in lines]


def _vector(text: str) -> np.ndarray:
    words = sorted(set(re.findall(r"[a-z]{4,}", text)))
    found = [np.random.default_rng(crc32(word.encode())).normal(size=WIDTH) for word in words]
    return np.sum([np.zeros(WIDTH), *found], axis=0)
