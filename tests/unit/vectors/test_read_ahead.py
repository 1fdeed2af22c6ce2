import logging
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from lexigraft.core.arrays import StringTable
from lexigraft.core.types import Document
from lexigraft.core.word_rule import WordRule
from lexigraft.vectors import encode
from lexigraft.vectors import read_ahead as module
from lexigraft.vectors.encode import encode_with_model
from lexigraft.vectors.open_network import open_network
from lexigraft.vectors.read_ahead import WAITING, read_ahead
from lexigraft.vectors.text_encoder import TextEncoder
from tests.families import write_backbone
from tests.small_models import grafted, saved


@pytest.fixture(autouse=True)
def one_batch_before(monkeypatch):
    monkeypatch.setattr(module, "SERIAL_BATCHES", 1)
    monkeypatch.setenv("READS_HERE", str(os.getpid()))


def numbers_of(texts):
    """Whose process read, and what."""
    time.sleep(0.01)
    return os.getpid(), [2 * int(text) for text in texts]


def is_elsewhere(texts):
    """In another process, at texts that come again and again."""
    return os.getpid() != int(os.environ["READS_HERE"]) and int(texts[0]) % 50 == 14


def killed(texts):
    if is_elsewhere(texts):
        os.kill(os.getpid(), signal.SIGKILL)
    return numbers_of(texts)


def fails(texts):
    if is_elsewhere(texts):
        raise ValueError("no such text")
    return numbers_of(texts)


def read_until(is_done, read, n_processes=2):
    """Batches are given until `is_done` of what was found, for two minutes at most, and a few more."""
    found, given, end = [], [], time.monotonic() + 120

    def batches():
        more = 20
        while more and time.monotonic() < end:
            more -= bool(is_done(found))
            given.append([2 * len(given), 2 * len(given) + 1])
            yield given[-1]

    for one in read_ahead(batches(), str, read, n_processes):
        found.append(one)
    assert_all(found, given)
    return found


def pairs(end):
    return [[number, number + 1] for number in range(0, end, 2)]


def assert_all(found, batches):
    assert [batch for batch, _ in found] == batches
    assert [read for _, (_, read) in found] == [[2 * number for number in batch] for batch in batches]


def readers_of(found):
    return {process for _, (process, _) in found}


def test_in_order_whoever_reads():
    found = read_until(lambda found: len(readers_of(found)) == 3, numbers_of)
    assert found[0][1][0] == os.getpid() and len(readers_of(found)) == 3


def test_without_other_processes():
    found = list(read_ahead(pairs(100), str, numbers_of, 0))
    assert_all(found, pairs(100))
    assert readers_of(found) == {os.getpid()}


def test_few_texts_start_no_process(monkeypatch):
    monkeypatch.setattr(module, "ReadingProcess", None)
    assert_all(list(read_ahead(pairs(2), str, numbers_of, 2)), pairs(2))
    assert list(read_ahead([], str, numbers_of, 2)) == []


def test_no_more_is_taken_than_may_wait():
    taken = []

    def batches():
        for number in range(10_000):
            taken.append(number)
            yield [number]

    ahead = read_ahead(batches(), str, numbers_of, 2)
    for given, (_, (process, _)) in enumerate(ahead, 1):
        assert len(taken) <= given + 2 * (1 + WAITING) + 1
        if process != os.getpid() and given > 50:
            break
    ahead.close()


def test_where_a_process_is_lost_this_one_reads(caplog):
    caplog.set_level(logging.WARNING)
    read_until(lambda found: "was lost" in caplog.text, killed)
    assert caplog.text.count("was lost") == 1


def test_an_error_comes_back_as_it_is():
    with pytest.raises(ValueError, match="no such text"):
        read_until(lambda found: False, fails)


class EndsAtOnce:
    """Ends the process that is told of it; longer than a pipe holds."""

    def __init__(self):
        self.much = b"x" * (1 << 20)

    def __reduce__(self):
        return _end, (self.much,)

    def __call__(self, texts):
        return numbers_of(texts)


def _end(much):
    os._exit(3)


@pytest.mark.integration
def test_a_process_that_cannot_start_leaves_nobody_waiting(caplog):
    read_until(lambda found: "was lost" in caplog.text, EndsAtOnce())
    assert "was lost" in caplog.text


def test_what_cannot_be_sent_is_read_here():
    assert_all(list(read_ahead(pairs(20), str, lambda texts: numbers_of(texts), 2)), pairs(20))


SCRIPT = """
import sys, time
print("begun", flush=True)
from lexigraft.vectors import read_ahead as module
from tests.unit.vectors.test_read_ahead import numbers_of
module.SERIAL_BATCHES = 1
for _, (process, _) in module.read_ahead(iter([[0, 1]] * 100000), str, numbers_of, 2):
    print(process, flush=True)
"""


@pytest.mark.integration
def test_a_script_without_a_guard_is_not_run_again_and_its_readers_end_with_it(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    told = {**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)}
    with subprocess.Popen(
        [sys.executable, tmp_path / "script.py"], stdout=subprocess.PIPE, text=True, env=told
    ) as script:
        assert script.stdout.readline() == "begun\n"
        readers = set()
        while len(readers) < 2:
            line = script.stdout.readline()
            assert line != "begun\n"
            readers |= {int(line)} - {script.pid}
        script.kill()
    for _ in range(100):
        if not any(Path(f"/proc/{reader}/cmdline").is_file() and _is_running(reader) for reader in readers):
            break
        time.sleep(0.1)
    else:
        pytest.fail("readers outlived the process that started them")


def _is_running(process):
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


@pytest.mark.parametrize(("stemmer", "fold"), [("none", False), ("english", False), ("german", True)])
def test_every_reader_can_be_sent(stemmer, fold, tmp_path):
    encoder = grafted(write_backbone("bert", tmp_path), stemmer=stemmer, rule=WordRule(fold_accents=fold))
    texts = ["the kur of melor", "", "Käse kurmel fodgix's kurs"]
    reader = encoder.reader()
    sent = pickle.loads(pickle.dumps(reader))
    for mine, other in zip(reader.read_measured(texts, 9), sent.read_measured(texts, 9), strict=True):
        assert str(mine) == str(other)


@pytest.mark.integration
def test_vectors_are_the_same_whoever_read(tmp_path, monkeypatch):
    """A model's own reader, sent to other processes."""
    monkeypatch.setattr(encode, "READ_AHEAD", 4)
    network = open_network(saved(grafted(write_backbone("bert", tmp_path / "backbone", loud=20.0)), tmp_path / "model"))
    documents = [Document(f"d{number}", "", "kur mel" * (number % 5)) for number in range(4000)]
    for name, n_readers in (("here", 0), ("elsewhere", 2)):
        monkeypatch.setattr(type(network), "n_readers", n_readers)
        (tmp_path / name).mkdir()
        encode_with_model(iter(documents), network, {}, tmp_path / name)
    files = sorted(file.name for file in (tmp_path / "here").iterdir())
    assert files
    for file in files:
        assert (tmp_path / "here" / file).read_bytes() == (tmp_path / "elsewhere" / file).read_bytes()
    assert list(StringTable(tmp_path / "here", "row_ids")) == [document.doc_id for document in documents]
    rows = TextEncoder(network, are_queries=False).encode_rows([document.contents for document in documents[:50]])
    assert len(set(np.diff(rows.indptr).tolist())) > 1
    assert np.load(tmp_path / "here" / "indptr.npy")[:51].tolist() == rows.indptr.tolist()
    assert np.load(tmp_path / "here" / "term_ids.npy")[: rows.indptr[-1]].tolist() == rows.terms.tolist()
