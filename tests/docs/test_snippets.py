"""Every Python and console snippet of README and the tutorial runs as it stands, in order, in a folder of its own."""

import json
from pathlib import Path

import pytest

from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from tests.conftest import DOCUMENTS, QRELS, QUERIES
from tests.docs.snippets import FENCE, Snippet, commands_of, outputs_of, run_console, run_python, snippets_of

ROOT = Path(__file__).parents[2]
README, TUTORIALS = ROOT / "README.md", sorted(ROOT.glob("docs/tutorial*.md"))
CLICK_LOGS = ROOT / "docs/howto/click_logs.md"
TINY_MODEL = (
    'run.systems=["bm25", "esplade"]', "model.backbone=scratch", "model.layers=1", "model.alpha=1",
    "model.lookup=false", "pretrain.steps=5", "pretrain.batch=8", "finetune.steps=10", "finetune.batch=8",
    "finetune.validate_every=10", "evaluate.timing_runs=1",
)  # fmt: skip
WALK_THROUGH = ROOT / "docs/tutorial_files.md"
FILES = ("Products in a CSV", "A folder of Markdown", "A JSONL with names of its own", "A Parquet file")
ANSWER = Document("ID", "Yours", "The document that answers your query.")


def run_all(document, lexigraft, monkeypatch, folder):
    """Runs every snippet of a document, each of which must succeed; returns how many there were."""
    monkeypatch.chdir(folder)
    names, snippets = {}, list(snippets_of(document))
    for snippet in snippets:
        if snippet.language == "python":
            run_python(snippet, document, names)
        else:
            run_console(snippet, lexigraft)
    return len(snippets)


def test_the_readme_runs(lexigraft, monkeypatch, tmp_path):
    """It names a collection DIR with a document ID, and searches the quickstart's run, which is a small one here."""
    write_collection(tmp_path / "DIR", [*DOCUMENTS, ANSWER], QUERIES, QRELS)
    assert lexigraft("run", "--data", tmp_path / "DIR", "--out", tmp_path / "runs/quickstart").status == 0
    assert run_all(README, lexigraft, monkeypatch, tmp_path) >= 3


@pytest.mark.integration  # it trains a model
@pytest.mark.parametrize("document", [path for path in TUTORIALS if path != WALK_THROUGH], ids=lambda path: path.name)
def test_the_tutorial_runs(document, lexigraft, monkeypatch, tmp_path):
    pytest.importorskip("torch")
    assert run_all(document, lexigraft, monkeypatch, tmp_path) >= 5


@pytest.mark.integration  # it trains a model, too
def test_the_howto_of_click_logs_runs(lexigraft, monkeypatch, tmp_path):
    """As it stands, but for the size of the model and the queries' embedding, which would take minutes."""
    pytest.importorskip("torch")
    small = {
        "run": [word for setting in TINY_MODEL for word in ("--set", setting)],
        "data clicks": ["--backbone", "none"],
    }

    def smaller(*words):
        return lexigraft(*words, *small.get(words[0], small.get(" ".join(words[:2]), ())))

    assert run_all(CLICK_LOGS, smaller, monkeypatch, tmp_path) == 2
    report = json.loads((tmp_path / "runs/clicks/report.json").read_text())
    assert report["collection"]["split"] == "test"
    assert {row["system"] for row in report["rows"]} >= {"bm25", "esplade"}
    (trained,) = (tmp_path / "runs/clicks/model").glob("finetuned/manifest.json")
    assert trained.is_file()


def test_the_walk_through_runs_and_prints_what_it_says(lexigraft, monkeypatch, tmp_path):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    names, n_commands = {}, 0
    for snippet in snippets_of(WALK_THROUGH):
        if snippet.language == "python":
            run_python(snippet, WALK_THROUGH, names)
            continue
        for (program, *words), said in outputs_of(snippet.body):
            output = lexigraft(*words)
            assert (program, output.status) == ("lexigraft", 0), (words, output.stderr)
            printed = [line.strip() for line in output.stdout.splitlines()]
            assert said and not [line for line in said if line not in printed], (words, said, printed)
            n_commands += 1
    assert n_commands == 3 * len(FILES)


def test_every_file_takes_three_commands():
    """From file to search to explanation."""
    text = WALK_THROUGH.read_text()
    starts = [text.index(f"\n## {title}\n") for title in (*FILES, "The same from Python")]
    for title, start, end in zip(FILES, starts, starts[1:], strict=False):
        (body,) = (found["body"] for found in FENCE.finditer(text[start:end]) if found["language"] == "console")
        assert [words[1] for words in commands_of(body)] == ["index", "search", "explain"], title


def test_snippets_are_found():
    for document in [README, *TUTORIALS]:
        assert {snippet.language for snippet in snippets_of(document)} == {"python", "console"}, document


def test_commands_are_read_as_a_shell_does():
    assert commands_of("$ lexigraft run --set 'a=[\"b\"]' \\\n    --json  # why\noutput\n$ make test\n") == [
        ["lexigraft", "run", "--set", 'a=["b"]', "--json"],
        ["make", "test"],
    ]


def test_a_snippet_that_fails_is_seen(lexigraft, tmp_path):
    with pytest.raises(ZeroDivisionError):
        run_python(Snippet("python", "1 / 0\n", 1), tmp_path / "x.md", {})
    with pytest.raises(AssertionError, match="nowhere"):
        run_console(Snippet("console", "$ lexigraft report --run nowhere\n", 1), lexigraft)
    with pytest.raises(AssertionError, match="which no test can run"):
        run_console(Snippet("console", "$ curl example\n", 1), lexigraft)
