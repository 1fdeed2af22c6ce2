"""A retriever whose index is replaced together with what belongs to it: parts of two versions are never mixed."""

import shutil

import pytest

from lexigraft.core.artifact import Manifest, open_artifact, write_artifact
from lexigraft.core.config import load_settings
from lexigraft.core.errors import MixedVersionsError
from lexigraft.core.settings import Settings
from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from lexigraft.retrieve.retriever import Retriever
from lexigraft.stages.collect import collect, collected
from lexigraft.stages.encode import encode_lexical
from lexigraft.stages.standalone import index_vectors
from lexigraft.vectors import store
from lexigraft.vectors.analysis import USUAL_RULE
from lexigraft.whole_run import run

# The same ids and words, in other documents: nothing but what they were made of tells the vectors apart.
VERSIONS = {
    "one": ["stone moss river bank", "river river", "moss bank"],
    "other": ["stone moss river bank", "moss moss", "river bank"],
}


def write_vectors(tmp_path, name, out):
    texts, folder = VERSIONS[name], tmp_path / f"data-{name}"
    if not folder.exists():
        documents = (Document(f"d{number}", "", text) for number, text in enumerate(texts))
        write_collection(folder, documents, [], {})
    settings, work = Settings(), tmp_path / f"collected-{name}"
    collect(str(folder), settings.data, work)
    (collection,) = collected(str(folder), settings.data, work).values()
    with write_artifact(out, Manifest(store.KIND, store.FORMAT_VERSION, {"of": name})) as draft:
        encode_lexical(collection, settings.data, settings.lexical.decided(), USUAL_RULE, draft)


def make(tmp_path, name, place):
    """The vectors and the index of a version at `place`."""
    write_vectors(tmp_path, name, place / "vectors")
    index_vectors(place / "vectors", place / "index", Settings(), replace_other=True)


def found(retriever):
    return [(hit.doc_id, hit.score) for hit in retriever.search("river", k=3, two_step=3)]


def opened(place):
    return Retriever.open(place / "index", vectors=place / "vectors")


def test_an_index_and_its_vectors_that_were_replaced_are_opened_anew(tmp_path):
    right = {}
    for name in VERSIONS:
        make(tmp_path, name, tmp_path / name)
        right[name] = found(opened(tmp_path / name))
    assert right["one"] != right["other"]
    make(tmp_path, "one", tmp_path / "live")
    before = opened(tmp_path / "live")  # which opens vectors when they are first asked for
    make(tmp_path, "other", tmp_path / "live")
    assert found(before) == right["other"]


def test_vectors_alone_that_were_replaced_are_said(tmp_path):
    make(tmp_path, "one", tmp_path / "live")
    before = opened(tmp_path / "live")
    write_vectors(tmp_path, "other", tmp_path / "live/vectors")
    with pytest.raises(MixedVersionsError, match="was not made of the vectors at"):
        found(before)


def test_texts_of_another_state_of_the_collection_are_not_shown(collection, tmp_path):
    """Texts are opened when they are first asked for; a run's are replaced before its indexes are."""
    settings = load_settings(None, ["run.systems=bm25", "evaluate.timing_runs=1"])
    run(str(collection), tmp_path / "run", settings)
    before, query = Retriever.open(tmp_path / "run"), "remove duplicates"
    shown = Retriever.open(tmp_path / "run").answer(query).hits[0]
    assert shown.text
    corpus = collection / "corpus.jsonl"
    corpus.write_text(corpus.read_text().replace(shown.text, f"{shown.text} and something else"))
    run(str(collection), tmp_path / "run", settings)
    assert before.answer(query).hits[0].doc_id == shown.doc_id
    assert not before.answer(query).hits[0].text
    assert Retriever.open(tmp_path / "run").answer(query).hits[0].text == f"{shown.text} and something else"


def test_what_is_saved_with_an_index_is_of_one_version(tmp_path, monkeypatch):
    """Metadata that a writer replaces while they are copied were saved with files of both versions."""
    make(tmp_path, "one", tmp_path)
    beside = tmp_path / "index.metadata"

    def write(version):
        with write_artifact(beside, Manifest("metadata", 4, {"of": version})) as draft:
            for name in "abcdef":
                (draft / name).write_text(version)

    write("one")
    copy, replaced = shutil.copyfile, []

    def copy_beside_a_writer(source, target, **options):
        if "index.metadata" in str(target) and not replaced:
            replaced.append(copy(source, target, **options))
            write("other")
            return replaced[0]
        return copy(source, target, **options)

    monkeypatch.setattr(shutil, "copyfile", copy_beside_a_writer)
    Retriever.open(tmp_path / "index").save(tmp_path / "saved")
    assert replaced
    made = open_artifact(tmp_path / "saved/index.metadata", "metadata", 4)
    assert made.config == {"of": "other"}
