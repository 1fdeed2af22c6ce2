"""An index of PISA itself, in a folder as PyTerrier's `PisaIndex` opens it: compressed where PISA's binding is
installed, and otherwise what PISA compresses when it is first asked."""

from pathlib import Path

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError
from lexigraft.core.progress import Progress
from lexigraft.export.lists import pisa_binding
from lexigraft.export.lists.lists_of_source import lists_of, lost_with_lists
from lexigraft.export.lists.ordered_lists import with_capitals
from lexigraft.export.lists.pisa_files import write_lists, write_names
from lexigraft.export.lists.query_files import REPEATED, WEIGHTED, write_queries
from lexigraft.export.source import Source
from lexigraft.export.targets import Exported, Wanted

INDEX = "index"
META = {"type": "sparse_index", "format": "pisa", "package_hint": "pyterrier-pisa", "stemmer": "none"}

USE = f"""
`{INDEX}` is the folder of an index. In PyTerrier (`pip install pyterrier-pisa`):

```python
import pandas as pd
from pyterrier_pisa import PisaIndex

index = PisaIndex("{INDEX}", stops="none")
retriever = index.quantized(num_results=100, toks_scale=1)  # 100 by default, for weights between 0 and 1
queries = pd.read_json("{WEIGHTED}", lines=True, dtype={{"qid": str}})
print(retriever(queries))
```

PISA's command line:

```bash
cd {INDEX}
create_wand_data --collection inv --output inv.bmw --block-size 64 --scorer quantized
compress_inverted_index --collection inv --encoding block_simdbp --output inv.block_simdbp
evaluate_queries --encoding block_simdbp --index inv.block_simdbp --wand inv.bmw --algorithm block_max_wand -k 100 \\
    --scorer quantized --weighted --tokenizer whitespace --terms fwd.termlex --documents fwd.doclex \\
    --queries ../{REPEATED} > run.trec
```

PISA keeps no order among documents of equal score, nor says which of them are in the last places.
"""


def write(wanted: Wanted, folder: Path, progress: Progress) -> Exported:
    source = Source.open(wanted.path, wanted.system, wanted.qk, wanted.dk)
    lists = lists_of(source, progress)
    if not len(lists.order):
        raise InputError(f"{wanted.path} has no postings, and PISA takes no empty index")
    if capitals := with_capitals(lists):
        raise InputError(
            f"the term {capitals[0]!r}, and {len(capitals) - 1:,} others, have capital letters, and PISA's binding "
            "looks terms of queries up in lower case; export to ciff, for PISA's command line, or choose a vocabulary "
            "without them"
        )
    inside = folder / INDEX
    inside.mkdir()
    write_lists(lists, inside, progress)
    write_names(lists, inside)
    write_json(inside / "pt_meta.json", META)
    lost = [*lost_with_lists(source), *write_queries(source, wanted.queries, folder, progress)]
    wrong = pisa_binding.compress(inside) if pisa_binding.is_installed() else "pyterrier-pisa is not installed here"
    if wrong:
        lost.append(f"the compressed lists ({wrong}): PISA makes them when the index is first searched")
    index = source.index
    return Exported(
        f"An index of PISA: {index.n_documents:,} documents, {len(lists.order):,} lists",
        kept=(
            f"every posting with its impact, a whole number below {2**index.meta.bits:,}",
            "document ids, and the order of the documents",
            *([f"queries that have a term, with terms weighted ({WEIGHTED}) and repeated ({REPEATED})"]
              if wanted.queries else []),
        ),
        lost=lost,
        use=USE,
        parents={"index": index.fingerprint},
        facts={
            "n_documents": index.n_documents, "n_lists": len(lists.order), "n_postings": index.meta.n_postings,
            "scale": index.meta.scale, "compressed": not wrong,
            "bytes": sum(file.stat().st_size for file in inside.iterdir()),
        },
    )  # fmt: skip
