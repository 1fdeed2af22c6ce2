"""Vespa's application package: the schema of the rows, and the services that hold and search them."""

from pathlib import Path

from lexigraft.engines.stored_values import name_of
from lexigraft.export.engine_files.stored_rows import StoredRows
from lexigraft.export.engine_files.templates import filled
from lexigraft.index.metadata import DATE, LIST, NUMBER

SHOWN_AS = {"document": "document_id"}  # the word `document` begins a part of a schema
TYPES = {NUMBER: "double", DATE: "long", LIST: "array<string>"}


def meta_field(name: str) -> str:
    """The field of a key, away from the fields of every row."""
    return f"meta_{name}"


def write_package(folder: Path, name: str, rows: StoredRows) -> None:
    """Write schemas/NAME.sd and services.xml."""
    (folder / "schemas").mkdir(parents=True)
    (folder / "schemas" / f"{name}.sd").write_text(_schema(name, rows), encoding="utf-8")
    (folder / "services.xml").write_text(SERVICES.replace("NAME", name), encoding="utf-8")


def _schema(name: str, rows: StoredRows) -> str:
    fields = [
        _field("row_id", "string", "summary | attribute"),
        _field("title", "string", "summary | index"),
        TERMS,
    ]
    shown = ["row_id", "title"]
    if rows.of_passages:
        fields.append(_field(SHOWN_AS["document"], "string", "summary | attribute"))
        shown.append(SHOWN_AS["document"])
    if rows.keeps_texts:
        fields.append(_field("text", "string", "summary | index"))
    for key, kind in rows.kinds.items():
        fields.append(_field(meta_field(name_of(key)), TYPES.get(kind, "string"), "summary | attribute"))
    summary = "\n".join(f"        summary {one} {{}}" for one in shown)
    return filled(SCHEMA, {"NAME": name, "FIELDS": "\n".join(fields), "SHOWN": summary})


def _field(name: str, kind: str, indexing: str) -> str:
    return f"        field {name} type {kind} {{\n            indexing: {indexing}\n        }}"


TERMS = """\
        field terms type weightedset<int> {
            indexing: summary | attribute
            attribute: fast-search
            dictionary: hash
        }"""

SCHEMA = """\
schema NAME {
    document NAME {
FIELDS
    }
    document-summary shown {
SHOWN
    }
    rank-profile impacts {
        first-phase {
            expression: rawScore(terms)
        }
    }
    rank-profile tensors {
        inputs {
            query(q) tensor<float>(term{})
        }
        first-phase {
            expression: sum(query(q) * tensorFromWeightedSet(attribute(terms), term))
        }
    }
}
"""

SERVICES = """\
<?xml version="1.0" encoding="utf-8" ?>
<services version="1.0">
  <container id="default" version="1.0">
    <search/>
    <document-api/>
  </container>
  <content id="content" version="1.0">
    <min-redundancy>1</min-redundancy>
    <documents>
      <document type="NAME" mode="index"/>
    </documents>
    <nodes>
      <node distribution-key="0" hostalias="node1"/>
    </nodes>
  </content>
</services>
"""
