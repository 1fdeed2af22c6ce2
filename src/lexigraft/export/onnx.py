"""`export onnx`: the graph that encodes, with all that a program needs to use it where neither torch nor Lexigraft is.

It is the model's inference form (`inference.folder`), which is compared with torch when it is made, beside how texts
are read and a program that does it.
"""

import shutil
from pathlib import Path

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import ArtifactError
from lexigraft.core.progress import Progress
from lexigraft.export.models.model_card import card_text
from lexigraft.export.models.model_source import ModelSource, needed, open_model_source, reading_facts
from lexigraft.export.models.standalone_files import copy_program
from lexigraft.export.readme import README
from lexigraft.export.targets import Exported, Wanted
from lexigraft.inference.folder import (
    FACTS,
    GRAPHS,
    TOKENIZER,
    WEIGHTS,
    WEIGHTS_8,
    form_beside,
    raw_tokenizer,
    read_facts,
)
from lexigraft.inference.meta import BY_MODEL, BY_TABLE, SUM, UNICOIL
from lexigraft.model.exported import ONNX, copy_backbone, copy_table, write_facts
from lexigraft.vectors.open_network import ensure_form

TARGET = "onnx"
PROGRAMS = ("lexigraft_reading.py", "encode.py")


def write(wanted: Wanted, folder: Path, progress: Progress) -> Exported:
    model = open_model_source(wanted, TARGET)
    if reason := ensure_form(model.path):
        raise ArtifactError(f"the model at {model.path} has no graph to export: {reason}")
    form = form_beside(model.path)
    has_8_bits = (form / GRAPHS[8]).is_file()
    for name in (GRAPHS[32], WEIGHTS, TOKENIZER, FACTS, *((GRAPHS[8], WEIGHTS_8) if has_8_bits else ())):
        shutil.copyfile(form / name, folder / name)
    copy_backbone(model.path, folder)
    if model.meta.queries == BY_TABLE:
        copy_table(model.path, folder, model.meta.n_terms)
    write_facts(folder, ONNX, model.meta, model.terms, model.card)
    said = read_facts(form)
    facts = reading_facts(model.meta, said.special, said.not_terms, raw_tokenizer(form))
    write_json(folder / "reading.json", facts)
    for name in PROGRAMS:
        copy_program(name, folder, "from ")
    exported = _exported(model, has_8_bits, _size(folder))
    text = card_text(model, exported.title, exported.use, exported.kept, exported.lost, TARGET, ("onnx",))
    (folder / README).write_text(text, encoding="utf-8")
    return exported


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("*.onnx")) + sum(
        file.stat().st_size for file in folder.glob("*.bin")
    )


def _exported(model: ModelSource, has_8_bits: bool, n_bytes: int) -> Exported:
    kept = ["everything: own words, pooling, prompts, lengths, limits of terms, queries with a model or without"]
    lost = ["the weights as torch has them: a model that is imported from here encodes, and is not trained further"]
    if has_8_bits:
        kept.append("graph8.onnx: the same with matrices of 8 bits, as Lexigraft itself encodes on a CPU")
    else:
        lost.append("a graph of 8 bits: it wrote other weights, and was not kept when the model was made ready")
    facts = {"form": ONNX, "terms": model.meta.n_terms, "bytes": n_bytes, "graphs": 2 if has_8_bits else 1}
    return Exported(
        f"A sparse encoder over {model.meta.n_terms:,} terms, as a graph", kept, lost, _use(model), facts=facts
    )


def _use(model: ModelSource) -> str:
    packages = " ".join(["onnxruntime", "numpy", "tokenizers", *needed(model)])
    if model.meta.queries == BY_TABLE:
        packages += " safetensors"
    of_query, of_document = model.meta.query_terms or "all", model.meta.document_terms or "all"
    return f"""\
```bash
pip install {packages}
python encode.py --queries "how to reverse a list"
python encode.py --documents "Return a reversed copy of a list."
```

Each line that comes out is a JSON object of terms and their weights. In a program:

```python
from pathlib import Path
from encode import Encoder

encoder = Encoder(Path("."), bits=32)  # bits=8: graph8.onnx
numbers, weights = encoder.encode(["how to reverse a list"], are_queries=True)[0]
print([(encoder.terms[number], weight) for number, weight in zip(numbers, weights)])
```

### Inputs

{_inputs(model)}

### Outputs

| name | type | what it is |
| --- | --- | --- |
| `texts` | int64 [entries] | the text of each entry, ascending |
| `terms` | int64 [entries] | its term, ascending within a text: a place in terms.json |
| `weights` | float32 [entries] | its weight, above 0.0001 |
| `hidden` | float32 [texts, length, width] | the state of each subword |

After the graph, a text keeps its heaviest terms: {of_query} of a query, {of_document} of a document.

### Files

- `graph.onnx` with `weights.bin`, and `graph8.onnx` with `weights8.bin`, which takes some arrays from `weights.bin`
- `tokenizer.json`: of the library `tokenizers`; `reading.json`: how texts are cut, stemmed and counted
- `terms.json`: the vocabulary; `inference.json`: special subwords, and where the head lies in `weights.bin`
- `encode.py`, `lexigraft_reading.py`: all of it as a program
- `lexigraft.json`, `backbone/`: by which `lexigraft model import` takes the model back"""


def _inputs(model: ModelSource) -> str:
    meta = model.meta
    rows = [
        ("subwords", "int64 [texts, length]", "texts of one length, without padding, special subwords included"),
        (
            "places",
            "int64 [texts, most]",
            "where the subwords stand that are pooled; where a text has fewer, its first again",
        ),
    ]
    if meta.pooling == SUM and meta.head != UNICOIL:
        rows.append(("is_there", "float32 [texts, most]", "1 where a place counts, 0 where it is a repetition"))
    if meta.own_words:
        rows += [
            ("own_texts", "int64 [own]", "the text of each own word"),
            ("own_terms", "int64 [own]", "its term"),
            ("own_weights", "float32 [own]", "its weight: 1 in a query, BM25's saturated count in a document"),
        ]
    table = ["| name | type | what it is |", "| --- | --- | --- |"]
    table += [f"| `{name}` | {kind} | {what} |" for name, kind, what in rows]
    if meta.queries != BY_MODEL:
        table += ["", "Queries need no graph: they are their distinct terms, with weights of 1 or of a table."]
    return "\n".join(table)
