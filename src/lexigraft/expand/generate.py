"""Text generated for texts by any model of `transformers`, written to a file that `generated` reads (X3).

Sequence-to-sequence models (T5) continue nothing and answer; causal ones (GPT) continue the prompt, which is cut off
again. A text is read through `prompt`, where {text} stands for it.

What is drawn is a function of the seed and a batch's number. Lines are written batch by batch, one a text, so what a
kill leaves (FILE.part) is continued at the first batch that is not whole, and ends as the same file. How a file was
made lies beside it (FILE.recipe.json).
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import hash_file, write_json
from lexigraft.core.errors import ArtifactError, InputError, MissingExtraError
from lexigraft.core.folders import make_folders
from lexigraft.core.installing import install_extra
from lexigraft.core.pretrained import open_config, open_tokenizer, open_weights
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.sealed_json import read_sealed
from lexigraft.expand.settings import PLACE, GenerateSettings

MODEL_FILES = (".json", ".safetensors", ".bin", ".model", ".txt", ".jinja")  # what a model in a folder is read from


def generate_file(
    model: str,
    inputs: Iterable[tuple[str, str]],
    out: Path,
    settings: GenerateSettings,
    source: str = "",
    progress: Progress = SILENT,
    total: int | None = None,
) -> int:
    """Write what `model` (a folder or hub name) generates for each (id, text) of `inputs`, a line each, to `out`, and
    return how many lines it holds. `source` says in the recipe what the inputs are.

    A file that was made by the same recipe is kept; by another, raises. Of a model in a folder, the files are part of
    the recipe.
    """
    if out.name.removesuffix(".gz").endswith(".tsv") or out.suffix == ".gz":
        raise InputError(f"{out}: generated text is written as plain .jsonl; give such a name")
    part, recipe_file = out.with_name(f"{out.name}.part"), out.with_name(f"{out.name}.recipe.json")
    recipe = {"model": model, "source": source, **asdict(settings), **_model_files(model)}
    _require_same_recipe(recipe_file, recipe, out, part)
    if out.is_file():
        with out.open("rb") as file:
            return sum(1 for _ in file)
    make_folders(out.parent)
    write_json(recipe_file, recipe)
    done = _cut_to_whole_batches(part, settings.batch)
    n_lines = 0
    generator: Generator | None = None  # opened when there is something left to do
    with part.open("a", encoding="utf-8") as file:
        for number, batch in enumerate(_batches(progress.track(inputs, "generating text", total), settings.batch)):
            n_lines += len(batch)
            if number < len(done):
                _require_same_ids(batch, done[number], part)
                continue
            generator = generator or Generator(model, settings)
            texts = generator.generate([text for _, text in batch], number)
            for (identifier, _), drawn in zip(batch, texts, strict=True):
                file.write(json.dumps({"id": identifier, "text": drawn}, ensure_ascii=False) + "\n")
            file.flush()
        os.fsync(file.fileno())
    if not n_lines:
        part.unlink()
        recipe_file.unlink()
        raise InputError("there is no text to generate for")
    part.replace(out)
    return n_lines


def _model_files(model: str) -> dict[str, str]:
    """What tells the model in a folder from one trained further in the same place; nothing for a hub name."""
    folder = Path(model)
    if not folder.is_dir():
        return {}
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.suffix in MODEL_FILES:
            digest.update(f"{file.name} {hash_file(file)}\n".encode("utf-8", "surrogateescape"))
    return {"model_files": digest.hexdigest()}


def _require_same_recipe(recipe_file: Path, recipe: dict[str, Any], out: Path, part: Path) -> None:
    if not recipe_file.is_file():
        if there := [path for path in (out, part) if path.exists()]:
            raise ArtifactError(f"{there[0]} is there already, and nothing says how it was made; give another name")
        return
    try:
        found = read_sealed(recipe_file)
    except ArtifactError:
        found = {}
    changed = [key for key in recipe if found.get(key) != recipe[key]]
    if changed and (out.exists() or (part.is_file() and part.stat().st_size)):
        key = changed[0]
        raise ArtifactError(
            f"{out} was made, or begun, with {key} = {found.get(key)!r}, and {recipe[key]!r} is asked for; give "
            f"another name, or remove it and what lies beside it ({recipe_file.name})"
        )


def _cut_to_whole_batches(part: Path, batch: int) -> list[bytes]:
    """What tells the ids of each batch that is whole in what was written before; the rest of it is cut off."""
    done: list[bytes] = []
    end = 0  # of the last whole batch
    if not part.is_file():
        return done
    with part.open("rb") as file:
        while len(ids := [_id_of(line) for line in islice(file, batch)]) == batch and None not in ids:
            done.append(_digest(ids))
            end = file.tell()
    os.truncate(part, end)
    return done


def _id_of(line: bytes) -> str | None:
    """Of a line that was written whole."""
    try:
        return str(json.loads(line)["id"]) if line.endswith(b"\n") else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _digest(ids: Iterable[str | None]) -> bytes:
    return hashlib.blake2b(json.dumps(list(ids)).encode(), digest_size=8).digest()


def _require_same_ids(batch: Sequence[tuple[str, str]], before: bytes, part: Path) -> None:
    if _digest(identifier for identifier, _ in batch) != before:
        raise ArtifactError(f"{part} was begun for other texts than these; remove it, or give another name")


def _batches(inputs: Iterable[tuple[str, str]], size: int) -> Iterator[list[tuple[str, str]]]:
    stream = iter(inputs)
    while batch := list(islice(stream, size)):
        yield batch


class Generator:
    """An open model with its tokenizer."""

    def __init__(self, model: str, settings: GenerateSettings) -> None:
        hf = _transformers()
        import torch

        self._settings = settings
        try:
            config, self._tokenizer = open_config(hf, model), open_tokenizer(hf, model)
            self._answers = bool(config.is_encoder_decoder)
            kind = hf.AutoModelForSeq2SeqLM if self._answers else hf.AutoModelForCausalLM
            self._model = open_weights(kind, model).eval()
        except InputError:
            raise
        except (OSError, ValueError) as error:
            first = str(error).strip().splitlines()[0]
            raise InputError(
                f"{model} cannot be opened as a text generator ({first}); give the folder or the hub name of a "
                "sequence-to-sequence or causal model"
            ) from error
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._model.to(self._device)
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token or self._tokenizer.unk_token
        # A causal model goes on where the prompt ends, so padding stands before it.
        self._tokenizer.padding_side = "right" if self._answers else "left"
        self._room = self._input_tokens()

    def generate(self, texts: Sequence[str], number: int) -> list[list[str]]:
        """`settings.texts` texts for each, by what chance gives batch `number`."""
        import torch

        settings = self._settings
        torch.manual_seed(_batch_seed(settings.seed, number))
        prompts = [self._fitting_prompt(text) for text in texts]
        read = self._tokenizer(prompts, return_tensors="pt", padding=True, truncation=True, max_length=self._room)
        read = read.to(self._device)
        drawn = settings.top_k > 1
        chance = {"top_k": settings.top_k, "top_p": settings.top_p, "temperature": settings.temperature}
        with torch.inference_mode():
            found = self._model.generate(
                input_ids=read.input_ids, attention_mask=read.attention_mask, max_new_tokens=settings.max_tokens,
                do_sample=drawn, num_return_sequences=settings.texts, pad_token_id=self._tokenizer.pad_token_id,
                **(chance if drawn else {}),
            )  # fmt: skip
        new = found if self._answers else found[:, read.input_ids.shape[1] :]
        decoded = [text.strip() for text in self._tokenizer.batch_decode(new, skip_special_tokens=True)]
        return [decoded[start : start + settings.texts] for start in range(0, len(decoded), settings.texts)]

    def _fitting_prompt(self, text: str) -> str:
        """The prompt with as many of the text's words as fit: what stands around them stays whole. A word that does not
        fit even alone, as in writing without spaces, is cut between characters."""
        if self._fits(text):
            return self._prompt(text)
        words = text.split()
        # A word is a token at least, so more words than there is room for tokens cannot fit.
        n_words = _most_that_fit(min(len(words), self._room), lambda size: self._fits(" ".join(words[:size])))
        fitting = " ".join(words[:n_words])
        if n_words < len(words) and not self._fits(long := words[n_words]):
            start = f"{fitting} " if fitting else ""
            n_characters = _most_that_fit(len(long), lambda size: self._fits(start + long[:size]))
            fitting = (start + long[:n_characters]).rstrip()
        return self._prompt(fitting)

    def _prompt(self, text: str) -> str:
        return self._settings.prompt.replace(PLACE, text)

    def _n_tokens(self, text: str) -> int:
        return len(self._tokenizer(self._prompt(text)).input_ids)

    def _fits(self, text: str) -> bool:
        return self._n_tokens(text) <= self._room

    def _input_tokens(self) -> int:
        """As set, or as many as the model has positions for beside what it adds. Raises where the prompt alone takes
        all of them: every text would then be generated from nothing."""
        settings, room = self._settings, self._settings.input_tokens
        positions = getattr(self._model.config, "max_position_embeddings", None)
        if isinstance(positions, int):
            left = positions if self._answers else positions - settings.max_tokens
            if left < 1:
                raise InputError(
                    f"the model has {positions} positions, which leaves none for the prompt beside max_tokens = "
                    f"{settings.max_tokens}; ask for fewer"
                )
            room = min(room, left)
        if (around := self._n_tokens("")) >= room:
            raise InputError(
                f"prompt = {settings.prompt!r} is {around} tokens without a text, and {room} are read (input_tokens = "
                f"{settings.input_tokens}, positions of the model = {positions or 'any'}), which leaves none for the "
                "text; give a shorter prompt, more input_tokens, or fewer max_tokens"
            )
        return room


def _most_that_fit(most: int, fits: Callable[[int], bool]) -> int:
    """The largest size up to `most` that fits, by bisection; 0 is taken to fit. Where a longer text may be fewer
    tokens, one that fits, if not the largest."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _batch_seed(seed: int, number: int) -> int:
    return int.from_bytes(hashlib.blake2b(f"{seed} {number}".encode(), digest_size=7).digest(), "little")


def _transformers() -> Any:
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError as error:
        name = error.name or "transformers"
        raise MissingExtraError("generating text", name, install_extra("train")) from error
    hf: Any = transformers
    hf.utils.logging.set_verbosity_error()
    hf.utils.logging.disable_progress_bar()
    return hf
