import json
import shutil

import pytest

from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.expand import generate
from lexigraft.expand.generate import Generator, generate_file
from lexigraft.expand.settings import GenerateSettings
from tests.generators import WORDS, make_generator

INPUTS = [
    (f"q{number}", text) for number, text in enumerate(["sort list", "parse date", "graph path order", "time", "zone"])
]
DRAWN = GenerateSettings(prompt="item {text}", texts=2, max_tokens=6, batch=2, seed=3)


@pytest.fixture(scope="module", params=["t5", "gpt2"])
def model(request, tmp_path_factory):
    return str(make_generator(tmp_path_factory.mktemp("model") / request.param, request.param))


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_a_text(model, tmp_path):
    out = tmp_path / "deep/g.jsonl"
    assert generate_file(model, INPUTS, out, DRAWN) == 5
    found = lines(out)
    assert [line["id"] for line in found] == [identifier for identifier, _ in INPUTS]
    assert all(len(line["text"]) == 2 for line in found)
    words = [word for line in found for text in line["text"] for word in text.split()]
    assert words
    assert set(words) <= set(WORDS)
    assert all(len(text.split()) <= 6 for line in found for text in line["text"])
    assert json.loads((out.parent / "g.jsonl.recipe.json").read_text())["seed"] == 3
    assert sorted(path.name for path in out.parent.iterdir()) == ["g.jsonl", "g.jsonl.recipe.json"]


def test_the_prompt_is_not_part_of_the_text_and_the_seed_decides(model, tmp_path):
    texts = [text for _, text in INPUTS]
    generator = Generator(model, DRAWN)
    assert generator.generate(texts, 0) == generator.generate(texts, 0)
    assert generator.generate(texts, 0) != generator.generate(texts, 1)
    likeliest = Generator(model, GenerateSettings(max_tokens=6, top_k=1))
    assert likeliest.generate(["sort"], 0) == likeliest.generate(["sort"], 1)
    # Beside longer texts, which pad it, a text gets the same.
    assert likeliest.generate(["sort", "graph path order time"], 0)[0] == likeliest.generate(["sort"], 0)[0]


def test_what_is_too_long_is_cut_inside_the_prompt(model):
    generator = Generator(model, GenerateSettings(prompt="parse {text} zone", max_tokens=4, input_tokens=8))
    assert generator._fitting_prompt("sort list") == "parse sort list zone"
    cut = generator._fitting_prompt("sort " * 100)
    assert cut.split()[0] == "parse"
    assert cut.split()[-1] == "zone"
    assert 3 <= len(cut.split()) <= 8
    assert len(generator.generate(["sort " * 100], 0)) == 1


@pytest.fixture(scope="module", params=["t5", "gpt2"])
def unspaced(request, tmp_path_factory):
    """A generator whose tokens are characters, as those of Chinese mostly are."""
    return str(make_generator(tmp_path_factory.mktemp("unspaced") / request.param, request.param, characters=True))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("漢" * 600, "漢" * 6),
        ("字 " + "漢" * 600, "字 " + "漢" * 5),  # a title and a text
        ("漢" * 600 + " 字", "漢" * 6),
        ("字字 漢漢 字字字字 漢", "字字 漢漢"),  # words that fit are never cut
        ("漢漢", "漢漢"),
        ("", ""),
    ],
)
def test_a_text_without_spaces_is_cut_between_characters(unspaced, text, read):
    generator = Generator(unspaced, GenerateSettings(prompt="parse {text} zone", max_tokens=4, input_tokens=8))
    assert generator._fitting_prompt(text) == f"parse {read} zone"
    assert len(generator.generate([text], 0)) == 1


def test_a_prompt_that_leaves_no_room_for_a_text(model):
    with pytest.raises(InputError, match=r"prompt = 'sort list \{text\} zone' is 3 tokens without a text"):
        Generator(model, GenerateSettings(prompt="sort list {text} zone", max_tokens=4, input_tokens=3))
    assert Generator(model, GenerateSettings(prompt="sort list {text} zone", max_tokens=4, input_tokens=4))


@pytest.mark.parametrize("left", [0, 1, 2, 3, 4])
def test_what_was_begun_is_continued_to_the_same_file(model, tmp_path, left, monkeypatch):
    whole = tmp_path / "whole.jsonl"
    generate_file(model, INPUTS, whole, DRAWN)
    out = tmp_path / "g.jsonl"
    written = whole.read_bytes().splitlines(keepends=True)
    (tmp_path / "g.jsonl.part").write_bytes(b"".join(written[:left]) + b'{"id": "q9", "te')
    (tmp_path / "g.jsonl.recipe.json").write_bytes((tmp_path / "whole.jsonl.recipe.json").read_bytes())
    numbers, before = [], Generator.generate

    def counted(self, texts, number):
        numbers.append(number)
        return before(self, texts, number)

    monkeypatch.setattr(Generator, "generate", counted)
    assert generate_file(model, INPUTS, out, DRAWN) == 5
    assert out.read_bytes() == whole.read_bytes()
    assert numbers == list(range(left // 2, 3))  # only batches that were not whole


def test_a_finished_file_is_kept_without_opening_the_model(model, tmp_path, monkeypatch):
    out = tmp_path / "g.jsonl"
    generate_file(model, INPUTS, out, DRAWN)
    before = out.read_bytes()
    monkeypatch.setattr(generate, "Generator", None)  # opening it would fail
    assert generate_file(model, INPUTS, out, DRAWN) == 5
    assert out.read_bytes() == before
    with pytest.raises(ArtifactError, match="with seed = 3, and 4 is asked for"):
        generate_file(model, INPUTS, out, GenerateSettings("item {text}", 2, 6, batch=2, seed=4))


def test_a_model_that_changed_in_its_folder_is_another(tmp_path):
    folder, out = make_generator(tmp_path / "gpt2", "gpt2"), tmp_path / "g.jsonl"
    generate_file(str(folder), INPUTS, out, DRAWN)
    (folder / "README.md").write_text("of no weight\n")
    copy = shutil.copytree(folder, tmp_path / "aside")  # the same files with other times are the same model
    shutil.rmtree(folder)
    copy.rename(folder)
    (folder / "config.json").touch()
    assert generate_file(str(folder), INPUTS, out, DRAWN) == 5
    weights = folder / "model.safetensors"
    changed = bytearray(weights.read_bytes())
    changed[-1] ^= 1
    weights.write_bytes(changed)
    with pytest.raises(ArtifactError, match="with model_files = "):
        generate_file(str(folder), INPUTS, out, DRAWN)


def test_files_that_are_in_the_way(tmp_path):
    (tmp_path / "g.jsonl").write_text("mine\n")
    with pytest.raises(ArtifactError, match="nothing says how it was made"):
        generate_file("absent", INPUTS, tmp_path / "g.jsonl", DRAWN)
    assert (tmp_path / "g.jsonl").read_text() == "mine\n"
    with pytest.raises(InputError, match=r"written as plain .jsonl"):
        generate_file("absent", INPUTS, tmp_path / "g.tsv", DRAWN)


def test_other_texts_than_those_begun_with(model, tmp_path):
    generate_file(model, INPUTS, tmp_path / "g.jsonl", DRAWN)
    (tmp_path / "g.jsonl").rename(tmp_path / "g.jsonl.part")
    with pytest.raises(ArtifactError, match="begun for other texts"):
        generate_file(model, INPUTS[1:], tmp_path / "g.jsonl", DRAWN)


def test_nothing_to_do_and_no_model(tmp_path):
    with pytest.raises(InputError, match="no text to generate for"):
        generate_file("absent", [], tmp_path / "g.jsonl", DRAWN)
    assert not list(tmp_path.iterdir())
    for name in ("absent", "another"):  # what never began is not in the way of another model
        with pytest.raises(InputError, match="cannot be opened as a text generator"):
            generate_file(str(tmp_path / name), INPUTS, tmp_path / "g.jsonl", DRAWN)


@pytest.mark.parametrize(
    "wrong", [{"prompt": "none"}, {"texts": 0}, {"top_p": 0.0}, {"temperature": 0.0}, {"texts": 2, "top_k": 1}]
)
def test_wrong_settings(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        GenerateSettings(**wrong)
