"""A grafted live index under fire: writers that are killed at any moment leave the old state or the new one, and what
comes of it all is, to the bit, a fresh graft of the documents that are left."""

import random

import pytest

from lexigraft.index.live.opening import open_writer
from lexigraft.index.live.reader import open_live
from lexigraft.index.live.state import read_state
from tests.integration.test_live import run_and_kill, run_to_the_end
from tests.live import LIVE_FOLDER, living_ids
from tests.live_bm25 import live_bm25_of, segment_files
from tests.live_grafted import add, documents_of, graft, grafted_live, rows_of

pytestmark = pytest.mark.integration

KILLS_EACH = 12
KINDS = ("graft", "append", "delete", "merge")


class Story:
    """One folder, the documents that live in it, and the next change."""

    def __init__(self, folder):
        self.folder, self.random, self.number = folder, random.Random(5), 300
        self.texts, self.vectors = documents_of(300)
        self.living = dict(self.texts)
        live_bm25_of(folder, [self.texts])
        graft(folder, rows_of(self.vectors, self.living))

    def step(self, kind):
        """(what a child does, the documents afterwards)."""
        living = dict(self.living)
        if kind == "graft":
            return lambda: graft(self.folder, rows_of(self.vectors, living)), living
        if kind == "append":
            new, vectors = documents_of(40, self.number, self.number)
            again = self.random.choice(sorted(living))
            new, self.number = {**new, again: "w1 again"}, self.number + 40
            self.vectors |= vectors
            left = {doc_id: text for doc_id, text in living.items() if doc_id != again}
            return lambda: add(self.folder, new, self.vectors, replacing=True), {**left, **new}
        gone = self.random.sample(sorted(living), 10)

        def work():
            with open_writer(self.folder) as writer:
                if kind == "delete":
                    writer.delete(gone)
                else:
                    writer.merge(everything=True)

        return work, {doc_id: text for doc_id, text in living.items() if kind == "merge" or doc_id not in gone}


def test_a_writer_that_is_killed_leaves_one_state_or_the_other(tmp_path):
    story, kills, outcomes = Story(tmp_path / "live"), dict.fromkeys(KINDS, 0), set()
    takes = dict.fromkeys(KINDS, 0.2)
    while min(kills.values()) < KILLS_EACH:
        kind = min(KINDS, key=lambda one: kills[one])
        if kind == "merge":
            work, story.living = story.step("delete")  # there must be something to leave out
            run_to_the_end(work)
        work, after = story.step(kind)
        before = read_state(story.folder).generation
        killed, lived = run_and_kill(work, story.random.uniform(0, 1.1 * takes[kind]))
        kills[kind] += killed
        takes[kind] = takes[kind] if killed else 0.5 * (takes[kind] + lived)
        is_new = read_state(story.folder).generation > before
        story.living = after if is_new else story.living
        outcomes.add((killed, is_new))
        assert living_ids(open_live(story.folder, checksums=True)) == story.living.keys()
        if not is_new and kind in ("append", "delete"):
            run_to_the_end(work)  # whoever comes next can go on
            story.living = after
    assert (True, False) in outcomes
    with open_writer(story.folder) as writer:
        writer.merge(everything=True)
    assert {path.name for path in story.folder.iterdir()} == LIVE_FOLDER
    fresh = grafted_live(tmp_path / "fresh", story.living, story.vectors)
    assert [*segment_files(story.folder).values()] == [*segment_files(fresh).values()]
