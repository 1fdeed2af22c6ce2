"""Texts stored by earlier versions are still read, and the arrays beside them are written the same.

`python -m tests.golden.test_text_format DIR` writes the stored folder. Compressed bytes are not compared: another
library of the same format may choose others.
"""

import shutil
import sys
from pathlib import Path

import numpy as np

from lexigraft.index import texts
from lexigraft.index.texts import KeptText, StoredTexts, TextWriter, keep_texts

STORED = Path(__file__).parent / "texts_v1"
ROWS = [
    KeptText("Kettle", "Boils water."),
    None,
    KeptText("", ""),
    KeptText("naïve 茶", "Tee für vier\0\n" * 3000),  # 45,000 bytes: more than a block holds
    KeptText("", "last"),
]
IDS, OWN_ORDER = ["a", "b", "c", "d", "e"], ["e", "a", "d", "c", "b"]


def write_sample(folder: Path) -> None:
    scratch = folder / "scratch"
    scratch.mkdir(parents=True)
    with TextWriter(scratch) as writer:
        for row in ROWS:
            writer.append(row)
    keep_texts(scratch, folder, IDS, OWN_ORDER)
    shutil.rmtree(scratch)


def test_the_arrays_are_those_worked_out_by_hand():
    """A row is 4 bytes and its strings: 4 + 6 + 12 = 22, none, 4; 4 + 10 + 45,000; 4 + 4."""
    stored = {name: np.load(STORED / name) for name in (texts.ENDS, texts.ROWS, texts.ORDER)}
    assert stored[texts.ENDS].dtype == np.uint32
    assert stored[texts.ENDS].tolist() == [22, 22, 26, 45_014, 8]
    assert stored[texts.ROWS].tolist() == [0, 3, 4, 5]
    assert stored[texts.ORDER].tolist() == [4, 0, 3, 2, 1]


def test_stored_texts_are_read():
    stored = StoredTexts(STORED)
    assert [stored.get(ordinal) for ordinal in range(5)] == [ROWS[IDS.index(doc_id)] for doc_id in OWN_ORDER]


def test_the_format_is_still_written(tmp_path):
    write_sample(tmp_path / "new")
    for name in (texts.ENDS, texts.ROWS, texts.ORDER):
        assert (tmp_path / "new" / name).read_bytes() == (STORED / name).read_bytes()
    fresh = StoredTexts(tmp_path / "new")
    assert [fresh.get(ordinal) for ordinal in range(5)] == [StoredTexts(STORED).get(ordinal) for ordinal in range(5)]


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]) / "texts_v1")
