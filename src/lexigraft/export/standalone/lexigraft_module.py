"""The exported model as a module of sentence-transformers: a text's subwords and own words in, its weighted terms out.

It is the whole of a SparseEncoder: backbone, head over the vocabulary, own words, pooling, and the cut to as many terms
as the model was trained to keep. `encode_query` and `encode_document` say which side a text is of; `encode` takes it
for a document. Lexigraft need not be installed.

Copyright the Lexigraft authors; licensed under the Apache License, Version 2.0.
"""

import json
import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from sentence_transformers.base.modules import InputModule
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM

from lexigraft.export.standalone.lexigraft_reading import SMALLEST_WEIGHT, TextReader, heaviest, look_up, open_reader

TILE_LOGITS = 1 << 22  # logits of one tile of the vocabulary, all tokens together
WITH_POOLER = ("bert", "roberta", "albert")
WEIGHTS, TABLE, FACTS, FILES = "model.safetensors", "table.safetensors", "lexigraft.json", "files.json"
HEAD_ROWS = "head.weight"

warnings.filterwarnings("ignore", "index_reduce", UserWarning)  # "beta", since years


class TermNames:
    """What `SparseEncoder.decode` asks for the names of dimensions: terms, and not the tokenizer's subwords."""

    def __init__(self, terms: Sequence[str], model_max_length: int) -> None:
        self.terms, self.model_max_length = list(terms), model_max_length

    def __len__(self) -> int:
        return len(self.terms)

    def convert_ids_to_tokens(self, ids: Any) -> Any:
        """The term of a number, or the terms of several."""
        return self.terms[ids] if isinstance(ids, int) else [self.terms[number] for number in ids]

    def get_vocab(self) -> dict[str, int]:
        """Terms with their numbers."""
        return {term: number for number, term in enumerate(self.terms)}


class PassThrough(nn.Module):
    """Stands where the decoder to subwords was."""

    bias = None

    def forward(self, hidden: Tensor) -> Tensor:
        return hidden


class Body(nn.Module):
    """Subwords and mask [texts, length] to hidden states [texts, length, width]."""

    def __init__(self, config: Any, has_mlm_head: bool) -> None:
        super().__init__()
        self.has_mlm_head = has_mlm_head
        masked: Any = AutoModelForMaskedLM
        bare: Any = AutoModel
        if has_mlm_head:
            self.model: Any = masked.from_config(config)
            _take_decoder(self.model)
        else:
            options = {"add_pooling_layer": False} if config.model_type in WITH_POOLER else {}
            self.model = bare.from_config(config, **options)

    def forward(self, subwords: Tensor, mask: Tensor) -> Tensor:
        output = self.model(input_ids=subwords, attention_mask=mask)
        hidden: Tensor = output.logits if self.has_mlm_head else output.last_hidden_state
        return hidden


class Head(nn.Module):
    """A row and a bias for each term, and what is added for a text's own words."""

    def __init__(self, weights: dict[str, Tensor], tied_to: nn.Parameter | None) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros_like(weights[HEAD_ROWS])) if tied_to is None else tied_to
        self.bias = nn.Parameter(torch.zeros_like(weights["head.bias"]))
        self.own = nn.Parameter(torch.zeros_like(weights["head.own"])) if "head.own" in weights else None


class LexigraftModule(InputModule):
    """Texts to vectors over the vocabulary."""

    def __init__(self, folder: Path, config: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._folder = folder
        self.facts: dict[str, Any] = json.loads((folder / FACTS).read_text(encoding="utf-8"))["encoder"]
        self.reader: TextReader = open_reader(folder, "backbone/tokenizer.json")
        self.tokenizer: Any = TermNames(self.reader.terms, self.facts["document_length"])
        self.max_seq_length: int = self.facts["document_length"]
        weights = load_file(folder / WEIGHTS)
        self.body = Body(config, self.facts["mlm_head"] == "own")
        self.head = Head(weights, self.body.model.get_input_embeddings().weight if self.facts["tied"] else None)
        if self.facts["tied"]:  # stored once, under the other name
            state = self.state_dict(keep_vars=True).items()
            rows = next(name for name, value in state if value is self.head.weight and name != HEAD_ROWS)
            weights[HEAD_ROWS] = weights[rows]
        self.load_state_dict(weights)
        self.table: dict[str, Any] | None = None
        if (folder / TABLE).is_file():
            self.table = {name: value.numpy() for name, value in load_file(folder / TABLE).items()}

    def preprocess(
        self, inputs: Sequence[Any], prompt: str | None = None, task: str | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Texts as the model reads them; `task` "query" makes them queries."""
        texts, are_queries = [(prompt or "") + str(text) for text in inputs], task == "query"
        if are_queries and self.facts["queries"] != "model":
            return {"asked": self.reader.terms_of_queries(texts), "are_queries": True}
        read = self.reader.read(texts, are_queries)
        longest = max(len(text.subwords) for text in read)
        subwords = torch.full((len(read), longest), self.reader.facts["special"]["pad"])
        mask = torch.zeros_like(subwords)
        pooled = torch.zeros_like(subwords)
        for row, text in enumerate(read):
            subwords[row, : len(text.subwords)] = torch.tensor(text.subwords)
            mask[row, : len(text.subwords)] = 1
            pooled[row, : len(text.subwords)] = torch.tensor(text.pooled).long()
        own = [(row, term, float(weight)) for row, text in enumerate(read) for term, weight in sorted(text.own.items())]
        return {
            "input_ids": subwords, "attention_mask": mask, "pooled": pooled, "are_queries": are_queries,
            "own_texts": torch.tensor([row for row, _, _ in own], dtype=torch.long),
            "own_terms": torch.tensor([term for _, term, _ in own], dtype=torch.long),
            "own_weights": torch.tensor([weight for _, _, weight in own], dtype=torch.float32),
        }  # fmt: skip

    def forward(self, features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """`sentence_embedding` [texts, terms]."""
        if "asked" in features:
            vectors = self._looked_up(features["asked"])
        elif self.facts["head"] == "unicoil":
            vectors = self._impacts(features)
        else:
            vectors = self._weigh(features)
        most = self.facts["query_terms" if features["are_queries"] else "document_terms"]
        most = 0 if "asked" in features else most
        vectors = torch.where(vectors > SMALLEST_WEIGHT, vectors, torch.zeros_like(vectors))
        features["sentence_embedding"] = cut(vectors, most)
        return features

    def _weigh(self, features: dict[str, Any]) -> Tensor:
        mask, pooled = features["attention_mask"], features["pooled"].bool()
        hidden = self.body(features["input_ids"], mask)
        if self.facts["pooling"] == "cls":
            hidden, pooled = hidden[:, :1], pooled.any(1, keepdim=True)
        is_sum = self.facts["pooling"] == "sum"
        values = self._over_tokens(hidden, pooled, is_sum)
        if self.head.own is not None:
            at = features["own_texts"], features["own_terms"]
            added = self.head.own[at[1]] * features["own_weights"]
            values = values.index_put(at, self._activate(added) if is_sum else added, accumulate=True)
        return values if is_sum else self._activate(values)

    def _over_tokens(self, hidden: Tensor, pooled: Tensor, is_sum: bool) -> Tensor:
        """Of each term the largest logit or, of sums, its weight, over the tokens of each text [texts, terms]."""
        tokens, text_of = hidden[pooled], pooled.nonzero()[:, 0]
        rows, bias = self.head.weight, self.head.bias
        found = hidden.new_full((len(hidden), len(rows)), 0.0 if is_sum else float("-inf"))
        tile = max(64, TILE_LOGITS // max(1, len(tokens)))
        for start in range(0, len(rows), tile):
            terms = slice(start, start + tile)
            logits = tokens @ rows[terms].T
            part = found[:, terms].contiguous()
            if is_sum:
                part.index_add_(0, text_of, self._activate(logits + bias[terms]))
            else:
                part = part.index_reduce(0, text_of, logits, "amax") + bias[terms]
            found[:, terms] = part
        return found

    def _activate(self, logits: Tensor) -> Tensor:
        once = torch.log1p(torch.relu(logits))
        return torch.log1p(once) if self.facts["activation"] == "log1p-twice" else once

    def _impacts(self, features: dict[str, Any]) -> Tensor:
        """Of each subword the largest impact of the places where it stands."""
        hidden: Tensor = self.body(features["input_ids"], features["attention_mask"])
        impacts = torch.relu(hidden @ self.head.weight[0] + self.head.bias) * features["pooled"]
        vectors: Tensor = hidden.new_zeros(len(hidden), len(self.reader.terms))
        return vectors.scatter_reduce(1, features["input_ids"], impacts, "amax")

    def _looked_up(self, asked: list[list[int]]) -> Tensor:
        """Queries without a model: their distinct terms, or what the table has for them."""
        vectors = torch.zeros(len(asked), len(self.reader.terms))
        for row, terms in enumerate(asked):
            if self.table is None:
                vectors[row, terms] = 1.0
            elif terms:
                found, weights = look_up(self.table, terms)
                vectors[row, torch.from_numpy(found).long()] = torch.from_numpy(weights)
        return vectors.to(self.head.weight.device)

    def get_embedding_dimension(self) -> int:
        """As many as there are terms."""
        return len(self.reader.terms)

    def get_config_dict(self) -> dict[str, Any]:
        """What the model says of itself."""
        return self.facts

    def save(self, output_path: str, *args: Any, safe_serialization: bool = True, **kwargs: Any) -> None:
        """Copy the model's files: its code and all that it reads."""
        for name in json.loads((self._folder / FILES).read_text(encoding="utf-8")):
            target = Path(output_path) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._folder / name, target)

    @classmethod
    def load(cls, model_name_or_path: str, *args: Any, **kwargs: Any) -> "LexigraftModule":
        """From a folder, or a hub where the name is none."""
        names = ("token", "cache_folder", "revision", "local_files_only")
        hub = {name: kwargs[name] for name in names if name in kwargs}
        listed = cls.load_file_path(model_name_or_path, FILES, **hub)
        if listed is None:
            raise FileNotFoundError(f"{model_name_or_path} has no {FILES}: it is no export of Lexigraft")
        for name in json.loads(Path(listed).read_text(encoding="utf-8")):
            cls.load_file_path(model_name_or_path, name, **hub)
        folder = Path(listed).parent
        config = AutoConfig.from_pretrained(folder / "backbone", trust_remote_code=False, local_files_only=True)
        return cls(folder, config).eval()


def cut(vectors: Tensor, most: int) -> Tensor:
    """At most so many terms a text (0: all), the heaviest."""
    if not most or not bool(((vectors > 0).sum(1) > most).any()):
        return vectors
    cpu = vectors.float().cpu().numpy()
    kept = np.zeros_like(cpu)
    for row, weights in enumerate(cpu):
        terms, _ = heaviest(np.flatnonzero(weights), weights[weights > 0], most)
        kept[row, terms] = weights[terms]
    return torch.from_numpy(kept).to(vectors)


def _take_decoder(model: Any) -> None:
    decoder = model.get_output_embeddings()
    holder = next(part for part in model.modules() if any(child is decoder for child in part.children()))
    model.set_output_embeddings(PassThrough())
    if isinstance(getattr(holder, "bias", None), nn.Parameter):
        holder.bias = None
