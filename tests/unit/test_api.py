"""What `import lexigraft` offers: every name is there whatever else was imported, and does what it says."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from shlex import split

import pytest

import lexigraft as lg
from lexigraft.core.errors import LexigraftError, MissingExtraError
from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from tests.conftest import DOCUMENTS
from tests.docs.snippets import run_python, snippets_of

MODULES = [module.name for module in pkgutil.walk_packages(lg.__path__, "lexigraft.") if "__main__" not in module.name]
README = Path(__file__).parents[2] / "README.md"
LIGHT = ("torch", "numba", "scipy", "matplotlib", "transformers")


def test_no_export_has_the_name_of_a_module():
    folders = {path.stem for path in Path(lg.__file__).parent.iterdir()}
    assert not folders & set(lg.__all__)


def test_every_export_is_itself_after_every_module_was_imported():
    for name in MODULES:
        try:
            importlib.import_module(name)
        except MissingExtraError:  # a framework that is not installed here
            assert name.startswith("lexigraft.integrations."), name
    for name in ("run", "evaluate", "compare"):
        assert callable(getattr(lg, name)), name
        assert getattr(lg, name).__module__ == "lexigraft.api"
    for name in ("Retriever", "SparseEncoder", "Hit", "Answer", "FoundDocument", "Run", "Evaluation"):
        assert isinstance(getattr(lg, name), type), name
    with lg.Retriever.from_texts(["one text"]) as retriever:
        assert [hit.doc_id for hit in retriever.search("text")] == ["0"]
    for call in (
        lambda: lg.SparseEncoder.open("nowhere"),
        lambda: lg.run("nowhere", out="never"),
        lambda: lg.evaluate("nowhere"),
        lambda: lg.compare(["nowhere"]),
    ):
        with pytest.raises(LexigraftError, match="nowhere"):
            call()
    assert set(dir(lg)) >= set(lg.__all__)
    with pytest.raises(AttributeError, match="it offers"):
        _ = lg.Retreiver


def test_importing_it_loads_nothing_heavy():
    code = f"import sys, lexigraft; print([name for name in {LIGHT} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_without_judgements_the_readme_works_and_a_run_says_what_would_be_better(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_collection(tmp_path / "DIR", DOCUMENTS)
    snippet = next(part for part in snippets_of(README) if part.language == "python")
    run_python(snippet, README, names := {})
    assert "bm25 None" in capsys.readouterr().out.splitlines()
    assert names["run"].rows == [] and names["run"].best["MRR@10"] is None
    assert names["run"].report["advice"]["command"] == ""  # six texts are too few to borrow from
    many = [Document(f"d{n}", "", f"text number {n}") for n in range(1100)]
    write_collection(tmp_path / "many texts", many)
    again = lg.run(tmp_path / "many texts", tmp_path / "run", set={"lexical.k1": 0.9, "run.systems": ["bm25"]})
    said = again.report["advice"]
    assert split(said["command"]) == [
        "lexigraft", "run", "--data", str(tmp_path / "many texts"), "--out", str(tmp_path / "run"),
        "--set", "lexical.k1=0.9",
    ]  # fmt: skip
    assert "Grafted, it finds what other words say" in said["says"]
    shown = (tmp_path / "run/report.md").read_text()
    assert said["says"] in shown and f"\n    {said['command']}\n" in shown


def test_a_run_is_an_object(collection, tmp_path):
    settings = {"run.systems": ["bm25", "bm25-plain"], "lexical.k1": 0.9}
    run = lg.run(collection, out=tmp_path / "run", set=settings)
    assert [row["system"] for row in run.rows] == ["bm25", "bm25-plain"]
    assert run.best["MRR@10"] == max(row["MRR@10"] for row in run.report["rows"])
    with run.retriever("bm25") as retriever:
        measured = lg.evaluate(retriever)
        assert measured.means["MRR@10"] == pytest.approx(run.rows[0]["MRR@10"])
        assert measured.means == lg.evaluate(retriever, data=collection).means
        queries = {"q": "remove duplicates"}
        (best,) = retriever.search(queries["q"], k=1)
        assert lg.evaluate(retriever, queries=queries, qrels={"q": {best.doc_id: 1}}).means["MRR@10"] == 1.0
        with pytest.raises(LexigraftError, match="queries together with qrels"):
            lg.evaluate(retriever, queries=queries)
    found = lg.compare([run])
    assert [system.name for system in found.systems] == ["bm25", "bm25-plain"]
    for wrong, message in [
        ({"lexical.k11": 1}, "did you mean .?lexical.k1"),
        ({"lexical.k1": "high"}, "lexical.k1 = 'high'"),
        ({"k1": 1}, "setting 'k1' is not of the form section.key"),
    ]:
        with pytest.raises(LexigraftError, match=message):
            lg.run(collection, out=tmp_path / "run", set=wrong)
    pruned = lg.run(collection, out=tmp_path / "run", set={"run.systems": ("bm25",), "prune.lexical": ((0, 0), (2, 3))})
    assert [(row["qk"], row["dk"]) for row in pruned.rows] == [(0, 0), (2, 3)]
