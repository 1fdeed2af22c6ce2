"""A live index under fire: writers killed at any moment, writers racing, and a reader that never stops.

Processes are forked, so that kernels are compiled once and a kill meets the writing, not the start of Python.
"""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from lexigraft.core.errors import ArtifactError
from lexigraft.index.live.opening import create_live, open_writer
from lexigraft.index.live.reader import open_live
from lexigraft.index.live.state import is_live, read_state
from lexigraft.index.metadata import metadata_of_live
from lexigraft.search.conditions import parse_condition
from lexigraft.search.filters import filter_masks
from lexigraft.search.live import LiveSearcher
from tests.live import (
    LIVE_FOLDER,
    SlowSegment,
    given_metadata,
    live_of,
    living_ids,
    named_by_state,
    shown_metadata,
    slow_ranking,
    vectors_of,
)

pytestmark = pytest.mark.integration

N_TERMS, LOUDEST = 200, 6.0
QUERIES = [{0: 1.0, 3: 2.0}, {7: 1.0}, {1: 3.0, 2: 1.0, 150: 2.0}]
KILLS_EACH = 25
ODD = f"time in ({', '.join(map(str, range(1, 999, 2)))}) and not tags has new"


def batch(rng, ids):
    """Rows that all fit one scale: the first document of every batch has the loudest weight."""
    rows = {i: {t: float(rng.randint(1, 5)) for t in rng.sample(range(N_TERMS), 12)} for i in ids}
    rows[ids[0]][0] = LOUDEST
    return rows


def forked(work):
    """Do `work` in a process of its own; its exit status is 0 where it went well."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def known_of(doc_id, time):
    """The metadata of a document tell when it was added; every fourth has none."""
    number = int(doc_id.lstrip("dw").partition("-")[0])
    if number % 4 == 0:
        return {}
    return {"time": time, "of": doc_id, "day": f"2024-01-{time % 28 + 1:02}", "tags": ("a", f"t{time}")}


def answers(documents):
    """What an index of these documents, {doc_id: (row, metadata)}, holds and says; nothing where there is none."""
    if documents is None:
        return None
    slow = SlowSegment.quantised({doc_id: [row] for doc_id, (row, _) in documents.items()}, LOUDEST / 255)
    known = {doc_id: found for doc_id, (_, found) in documents.items() if found}
    late = {doc_id for doc_id, found in known.items() if found["time"] % 2 and "new" not in found.get("tags", ())}
    return set(documents), [slow_ranking([slow], query, 20) for query in QUERIES], known, late


def answers_on_disk(folder):
    if not is_live(folder):
        return None
    live = open_live(folder, checksums=True)
    searcher, found = LiveSearcher(live), []
    for query in QUERIES:
        terms = sorted(query)
        vector = np.array(terms, np.int32), np.array([query[t] for t in terms], np.float32)
        ranking = searcher.search(*vector, 20)
        found.append(list(zip(ranking.doc_ids, ranking.scores, strict=True)))
    return living_ids(live), found, shown_metadata(live), fulfilling(live, ODD)


def fulfilling(live, condition):
    """The living documents that fulfil a condition."""
    found = set()
    masks = filter_masks(metadata_of_live(live), [parse_condition(condition)])
    for segment, mask in zip(live.segments, masks, strict=True):
        allowed = mask if segment.allowed is None else mask & segment.allowed
        found.update(segment.index.names(np.flatnonzero(allowed).astype(np.int32)))
    return found


class Story:
    """One folder and what must be in it; `step` makes the next change, in a child that may be killed."""

    def __init__(self, folder, seed):
        self.folder, self.rng, self.documents, self.number, self.time = folder, random.Random(seed), None, 0, 0

    def step(self, kind):
        """(what the child does, the documents afterwards)."""
        before = dict(self.documents or {})
        self.time += 1
        if kind in ("begin", "append"):
            again = self.rng.sample(sorted(before), min(len(before), 30))  # these are replaced
            new = [*again, *(f"d{self.number + n}" for n in range(150))]
            self.number += 150
            added = batch(self.rng, new)
            known = {doc_id: known_of(doc_id, self.time) for doc_id in added}
            open_or_begin = create_live if kind == "begin" else open_writer

            def work():
                with open_or_begin(self.folder) as writer:
                    writer.append(vectors_of(added, N_TERMS), replacing=True, metadata=given_metadata(known))

            return work, {**before, **{doc_id: (row, known[doc_id]) for doc_id, row in added.items()}}
        if kind == "delete":
            gone = set(self.rng.sample(sorted(before), min(len(before) - 1, 40)))

            def work():
                with open_writer(self.folder) as writer:
                    writer.delete(gone)

            return work, {doc_id: row for doc_id, row in before.items() if doc_id not in gone}

        if kind == "metadata":
            chosen = self.rng.sample(sorted(before), len(before) // 2)
            said = {doc_id: {"time": self.time, "tags": ("new",), "more": 0.5} for doc_id in chosen}

            def work():
                with open_writer(self.folder) as writer:
                    writer.set_metadata(given_metadata(said)())

            return work, {doc_id: (row, {**known, **said.get(doc_id, {})}) for doc_id, (row, known) in before.items()}

        def work():
            with open_writer(self.folder) as writer:
                writer.merge(everything=True)

        return work, before


def run_and_kill(work, after):
    """Whether the child was still at work when it was killed, and how long it was let live."""
    started = time.perf_counter()
    pid = forked(work)
    while (lived := time.perf_counter() - started) < after:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return False, lived
        time.sleep(0.0002)
    os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    return os.WIFSIGNALED(status), lived


def run_to_the_end(work):
    started = time.perf_counter()
    assert os.waitpid(forked(work), 0)[1] == 0
    return time.perf_counter() - started


def test_killed_at_a_hundred_random_moments(tmp_path):
    kinds = ("begin", "append", "delete", "metadata", "merge")
    rng, kills, outcomes = random.Random(1), dict.fromkeys(kinds, 0), []
    warm = Story(tmp_path / "warm", 0)
    for kind in kills:  # once here, so that everything is compiled before a fork
        work, warm.documents = warm.step(kind)
        work()
    assert answers_on_disk(warm.folder) == answers(warm.documents)
    n_folders = 0
    takes = dict.fromkeys(kills, 0.2)
    while min(kills.values()) < KILLS_EACH:
        for kind in ("begin", "append", "append", "delete", "metadata", "merge"):
            if kind == "begin":
                n_folders += 1
                story = Story(tmp_path / f"live{n_folders}", n_folders)
            for _ in range(3):  # what a kill left is what the next attempt starts from
                work, documents = story.step(kind)
                generation = read_state(story.folder).generation if is_live(story.folder) else 0
                killed, lived = run_and_kill(work, rng.uniform(0, 1.1 * takes[kind]))
                found = answers_on_disk(story.folder)
                is_new = (read_state(story.folder).generation if is_live(story.folder) else 0) > generation
                assert found == answers(documents if is_new else story.documents), (kind, lived, is_new)
                if killed:
                    kills[kind] += 1
                    outcomes.append(is_new)
                else:
                    takes[kind] = 0.5 * (takes[kind] + lived)
                if is_new:
                    story.documents = documents
                    break
            else:
                work, documents = story.step(kind)
                takes[kind] = 0.5 * (takes[kind] + run_to_the_end(work))
                story.documents = documents
                assert answers_on_disk(story.folder) == answers(documents)
        with open_writer(story.folder):
            named = named_by_state(story.folder)
        assert {name: {path.name for path in (story.folder / name).iterdir()} for name in named} == named
        assert {path.name for path in story.folder.iterdir()} == LIVE_FOLDER
    sys.stdout.write(f"kills: {kills}; the change was made in {sum(outcomes)} of {len(outcomes)}\n")  # seen with -s
    assert sum(kills.values()) >= 100
    assert 0 < sum(outcomes) < len(outcomes)  # some were killed before the state changed, and some after


def hear_interrupts():
    """Tests that run in the background of a shell would hand on its deafness to SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_commands_stopped_by_ctrl_c_at_random_moments(tmp_path):
    """Real signals to the command line: it says so and exits with 130, or was done; the index is old or new, whole."""
    rng, live, outcomes = random.Random(2), tmp_path / "live", []
    documents = batch(rng, [f"d{n}" for n in range(300)])
    live_of(live, [documents], N_TERMS)
    documents = {doc_id: (row, known_of(doc_id, 1)) for doc_id, row in documents.items()}
    with open_writer(live) as writer:
        writer.set_metadata(given_metadata({doc_id: known for doc_id, (_, known) in documents.items()})())
    command = [sys.executable, "-m", "lexigraft", "index"]
    started = time.perf_counter()
    subprocess.run([*command, "status", live], check=True, capture_output=True)
    start_takes = time.perf_counter() - started  # a stop before that meets the imports of Python
    for turn in range(16):
        gone = set(rng.sample(sorted(documents), 5))
        act = ["delete", live, *sorted(gone)] if turn % 2 == 0 else ["merge", live, "--all"]
        before, after = answers(documents), answers({i: row for i, row in documents.items() if i not in gone})
        with subprocess.Popen(
            [*command, *act], stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=hear_interrupts
        ) as process:
            time.sleep(rng.uniform(0.6, 1.2) * start_takes)
            process.send_signal(signal.SIGINT)
            said = process.communicate()[1].decode()
        found = answers_on_disk(live)
        assert found in ((before, after) if turn % 2 == 0 else (before,)), said
        if found == after:
            documents = {i: row for i, row in documents.items() if i not in gone}
        if process.returncode == 130:
            assert "the change was made whole or not at all" in said
        outcomes.append(process.returncode)
    assert 130 in outcomes
    with open_writer(live) as writer:
        names = {segment.name for segment in writer.state.segments}
    assert {path.name for path in (live / "segments").iterdir()} == names


def test_writers_that_race_lose_nothing(tmp_path):
    live = live_of(tmp_path / "live", [{"first": {0: LOUDEST}}], N_TERMS)
    n_writers, rounds = 4, 8

    def work(number):
        rng = random.Random(number)
        for turn in range(rounds):
            added = batch(rng, [f"w{number}-{turn}-{n}" for n in range(20)])
            while True:
                try:
                    with open_writer(live, wait=number % 2 == 0) as writer:
                        known = given_metadata({doc_id: known_of(doc_id, turn) for doc_id in added})
                        writer.append(vectors_of(added, N_TERMS), metadata=known)
                        if turn:
                            writer.delete([f"w{number}-{turn - 1}-7"])
                        if turn % 3 == number % 3:
                            writer.merge(everything=turn % 2 == 0)
                    break
                except ArtifactError as error:
                    assert "is writing to" in str(error)
                    time.sleep(0.001)

    children = [forked(lambda number=number: work(number)) for number in range(n_writers)]
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * n_writers
    expected = {f"w{w}-{t}-{n}" for w in range(n_writers) for t in range(rounds) for n in range(20)} | {"first"}
    expected -= {f"w{w}-{t}-7" for w in range(n_writers) for t in range(rounds - 1)}
    found = open_live(live, checksums=True)
    assert living_ids(found) == expected
    known = {doc_id: known_of(doc_id, int(doc_id.split("-")[1])) for doc_id in expected - {"first"}}
    assert shown_metadata(found) == {doc_id: one for doc_id, one in known.items() if one}


def test_a_reader_sees_only_whole_states(tmp_path):
    """Every change replaces all documents at once, with weights and metadata that tell which change it was."""
    ids = [f"d{n}" for n in range(60)]

    def documents(turn):
        return {doc_id: {0: LOUDEST if n == 0 else 1.0, 1 + turn: 1.0} for n, doc_id in enumerate(ids)}

    def known(turn):
        return {doc_id: {"turn": turn, "of": doc_id, f"key{turn % 3}": "x"} for doc_id in ids}

    live = live_of(tmp_path / "live", [documents(0)], N_TERMS)
    with open_writer(live) as writer:
        writer.set_metadata(given_metadata(known(0))())

    def work():
        for turn in range(1, 80):
            with open_writer(live) as writer:
                if turn % 5 == 0:  # metadata alone, said in two steps of one turn
                    writer.set_metadata(given_metadata({doc_id: {"step": turn} for doc_id in ids})())
                metadata = given_metadata(known(turn))
                writer.append(vectors_of(documents(turn), N_TERMS), replacing=True, metadata=metadata)
                if turn % 4 == 0:
                    writer.merge(everything=True)

    pid, seen = forked(work), []
    while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
        found = open_live(live, checksums=len(seen) % 2 == 0)
        assert living_ids(found) == set(ids)
        counts = [
            len(LiveSearcher(found).search(np.array([term], np.int32), np.ones(1, np.float32), 100).doc_ids)
            for term in range(1, 81)
        ]
        assert sorted(counts) == [0] * 79 + [60]  # one change, whole
        turn = counts.index(60)
        said = [{key: value for key, value in one.items() if key != "step"} for one in shown_metadata(found).values()]
        assert sorted(said, key=lambda one: one["of"]) == sorted(known(turn).values(), key=lambda one: one["of"])
        assert fulfilling(found, f"turn = {turn} and key{turn % 3} = x") == set(ids)
        seen.append((found.generation, counts.index(60)))
    assert ended[1] == 0  # the writer made all its changes
    assert seen == sorted(seen)
    assert len(set(seen)) > 5


GROW = """
import sys
from pathlib import Path
import numpy as np
from lexigraft.core.settings import IndexSettings
from lexigraft.core.types import SparseMatrix, Vocabulary
from lexigraft.index.live.opening import create_live, open_writer
from lexigraft.vectors.store import DocumentVectors

folder, n_segments, n_rows, n_terms = Path(sys.argv[1]), int(sys.argv[2]), 20_000, 500
if n_segments == 0:
    with open_writer(folder) as writer:
        writer.merge(everything=True, settings=IndexSettings(memory_mib=4))
    sys.exit()
vocabulary, rng = Vocabulary([f"t{n}" for n in range(n_terms)]), np.random.default_rng(0)
with create_live(folder) as writer:
    for number in range(n_segments):
        steps = rng.integers(1, 5, (n_rows, 100))
        terms, indptr = np.cumsum(steps, axis=1).astype(np.int32), np.arange(n_rows + 1) * 100
        ids = [f"d{number}-{row}" for row in range(n_rows)]
        weights = rng.integers(1, 256, terms.size).astype(np.float32)
        weights[0] = 255
        matrix = SparseMatrix(ids, indptr, terms.ravel(), weights, n_terms, vocabulary.fingerprint)
        writer.append(DocumentVectors(matrix, ids, vocabulary, {"kind": "none"}, ""))
"""


def test_merging_takes_bounded_memory(tmp_path):
    """From 2 to 8 segments of 2 million postings the peak grows by the bytes that each document costs, not by
    postings."""
    script, peaks = tmp_path / "grow.py", {}
    script.write_text(GROW)
    for n_segments in (2, 8):
        live = tmp_path / f"live{n_segments}"
        assert os.spawnl(os.P_WAIT, sys.executable, sys.executable, str(script), str(live), str(n_segments)) == 0
        pid = os.spawnl(os.P_NOWAIT, sys.executable, sys.executable, str(script), str(live), "0")
        _, status, usage = os.wait4(pid, 0)
        assert status == 0
        peaks[n_segments] = usage.ru_maxrss / 1024
        assert [segment.n_postings for segment in read_state(live).segments] == [n_segments * 2_000_000]
    assert peaks[8] - peaks[2] < 60, peaks  # 120,000 documents and 12 million postings more
