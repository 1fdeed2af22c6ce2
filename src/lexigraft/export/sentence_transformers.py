"""`export sentence-transformers`: a SparseEncoder folder, ready for a hub.

Form "stock" is made of modules that the library itself has, and runs no code of ours; not every model can be. Form
"full" has a module of ours beside the weights, and loses nothing. Where no form is asked for it is stock if that loses
nothing, else full.
"""

import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import MissingExtraError
from lexigraft.core.installing import install_extra
from lexigraft.core.progress import Progress
from lexigraft.export.models.model_card import card_text
from lexigraft.export.models.model_source import ModelSource, needed, open_model_source, reading_facts
from lexigraft.export.models.standalone_files import copy_program
from lexigraft.export.models.stock_form import losses, max_active_dims, reasons_against, require_stock, write_stock
from lexigraft.export.readme import README
from lexigraft.export.targets import Exported, Wanted
from lexigraft.inference.meta import BY_MODEL, BY_TABLE
from lexigraft.model.exported import FULL, STOCK, WEIGHTS, copy_backbone, copy_table, write_facts

if TYPE_CHECKING:
    from lexigraft.model.encoder import SparseEncoder

TARGET = "sentence-transformers"
LEAST = "6.0.0"  # the version of the library whose layout this is
MODULE, READING, FILES = "lexigraft_module.py", "lexigraft_reading.py", "files.json"


def write(wanted: Wanted, folder: Path, progress: Progress) -> Exported:
    model = open_model_source(wanted, TARGET)
    _require_torch()
    from lexigraft.model.encoder import open_encoder

    form = wanted.form or (FULL if reasons_against(model) or losses(model.meta) else STOCK)
    if form == STOCK:
        require_stock(model)
    encoder = open_encoder(model.path)
    exported = _write_stock(model, encoder, folder) if form == STOCK else _write_full(model, encoder, folder)
    _write_config(model, form, folder)
    tags = ("sentence-transformers", *(("custom_code",) if form == FULL else ()))
    text = card_text(model, exported.title, exported.use, exported.kept, exported.lost, TARGET, tags)
    (folder / README).write_text(text, encoding="utf-8")
    return exported


def _require_torch() -> None:
    for name in ("torch", "transformers"):
        if importlib.util.find_spec(name) is None:
            raise MissingExtraError(f"export {TARGET}", name, install_extra("train"))


def _write_stock(model: ModelSource, encoder: "SparseEncoder", folder: Path) -> Exported:
    meta = model.meta
    layout = write_stock(model, encoder, folder)
    copy_backbone(model.path, folder)
    if meta.queries == BY_TABLE:
        copy_table(model.path, folder, meta.n_terms)
    write_facts(folder, STOCK, meta, model.terms, model.card, layout)
    kept = ["backbone, head, pooling and activation", "prompts and the lengths of both sides"]
    if meta.queries != BY_MODEL:
        kept.append("queries that need no network: a weight for each of their terms (SparseStaticEmbedding)")
    before = int(layout["pieces"])
    if before:
        kept.append(f"readable terms: dimension {before:,} + i is term i, and decode() calls it term:NAME")
    lost = [*losses(meta), "Lexigraft leaves weights up to 0.0001 out of its vectors; these modules do not"]
    facts = {"form": STOCK, "dimensions": before + meta.n_terms, "terms": meta.n_terms}
    return Exported(_title(model), kept, lost, _use(trusted=False), facts=facts)


def _write_full(model: ModelSource, encoder: "SparseEncoder", folder: Path) -> Exported:
    import shutil

    from lexigraft.model.torch_network import TorchNetwork

    meta = model.meta
    copy_backbone(model.path, folder)
    shutil.copyfile(model.path / WEIGHTS, folder / WEIGHTS)
    (folder / WEIGHTS).chmod(0o644)
    if meta.queries == BY_TABLE:
        copy_table(model.path, folder, meta.n_terms)
    write_facts(folder, FULL, meta, model.terms, model.card)
    network, raw = TorchNetwork(encoder), encoder.backbone.hf_tokenizer.backend_tokenizer
    write_json(folder / "reading.json", reading_facts(meta, network.special, network.not_terms, raw))
    for name in (MODULE, READING):
        copy_program(name, folder, "from .")
    names = sorted(
        file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file() and file.name[0] != "."
    )
    write_json(folder / FILES, [*names, FILES])
    write_json(
        folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": "lexigraft_module.LexigraftModule"}]
    )
    kept = [
        "everything: own words, pooling over words, prompts, lengths, limits of terms, queries with a model or without",
        "decode() names terms",
    ]
    lost = [
        "nothing of its vectors; the folder runs a module of its own, so it is loaded with trust_remote_code=True, and "
        "servers that know stock modules alone cannot load it"
    ]
    facts = {"form": FULL, "dimensions": meta.n_terms, "terms": meta.n_terms}
    return Exported(_title(model), kept, lost, _use(trusted=True, needed=needed(model)), facts=facts)


def _title(model: ModelSource) -> str:
    return f"A sparse encoder over {model.meta.n_terms:,} terms"


def _use(trusted: bool, needed: list[str] | None = None) -> str:
    packages = " ".join([f'"sentence-transformers>={LEAST}"', *(needed or [])])
    option = ", trust_remote_code=True" if trusted else ""
    return f"""\
```bash
pip install {packages}
```

```python
from sentence_transformers import SparseEncoder

model = SparseEncoder("."{option})  # this folder, or its name on a hub
queries = model.encode_query(["how to reverse a list"])
documents = model.encode_document(["Return a reversed copy of a list."])
print(model.similarity(queries, documents))
print(model.decode(queries[0], top_k=10))
```

Use `encode_query` for queries and `encode_document` for documents: the two are read and cut differently."""


def _write_config(model: ModelSource, form: str, folder: Path) -> None:
    meta = model.meta
    config: dict[str, Any] = {
        "model_type": "SparseEncoder",
        "__version__": {"sentence_transformers": LEAST},
        "prompts": {"query": meta.query_prompt, "document": meta.document_prompt},
        "default_prompt_name": None,
        "similarity_fn_name": "dot",
    }
    if form == STOCK and (most := max_active_dims(meta)):
        config["max_active_dims"] = most
    text = json.dumps(config, indent=2, ensure_ascii=False)
    (folder / "config_sentence_transformers.json").write_text(text + "\n", encoding="utf-8")
