"""Exported files of OpenSearch, Elasticsearch and Vespa against what their own clients publish of their interfaces.

No server of them can be run here. The types in TypeScript are made of the servers' own descriptions; they come from
npm, and are compared where `npm install` in tests/engines/types was done (`make test-engine-clients` tries it).
"""

import inspect
import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.engines.exported_files import LuceneTwin, VespaTwin, lines_of, queries_of
from tests.engines.loaded_files import export_debian, export_odd, needs_data, require_right
from tests.unit.export import odd

dsl = pytest.importorskip("elasticsearch.dsl")
pytest.importorskip("opensearchpy")
package = pytest.importorskip("vespa.package")
pytestmark = pytest.mark.integration
TYPES = Path(__file__).parents[1] / "engines" / "types"
COMPILER = TYPES / "node_modules" / ".bin" / "tsc"


@pytest.fixture(scope="module")
def indexes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    odd.make(folder)
    return folder


def fields_of(out):
    """The mapping's fields by name, those of `meta` too."""
    found = json.loads((out / "index.json").read_text())["mappings"]["properties"]
    return {**{name: one for name, one in found.items() if name != "meta"}, **found["meta"]["properties"]}


def test_fields_and_queries_of_elasticsearch(indexes, tmp_path):
    export_odd("elasticsearch", indexes / "passages", tmp_path)
    for field in fields_of(tmp_path / "out").values():
        options = {name: value for name, value in field.items() if name != "type"}
        made = dsl.field.construct_field(field["type"], **options)
        assert made.to_dict() == field
        assert options.keys() <= inspect.signature(type(made).__init__).parameters.keys()
    for one in queries_of(tmp_path / "out"):
        body = one["body"]
        asked = dsl.query.Q(body["query"])
        assert type(asked) is dsl.query.SparseVector and asked.to_dict() == body["query"]
        assert body["query"]["sparse_vector"].keys() <= inspect.signature(dsl.query.SparseVector).parameters.keys()
        assert dsl.Search.from_dict(body).to_dict() == body


def test_fields_of_opensearch(indexes, tmp_path):
    from opensearchpy.helpers import field as published

    export_odd("opensearch", indexes / "passages", tmp_path)
    for field in fields_of(tmp_path / "out").values():
        assert published.construct_field(dict(field)).to_dict() == field


def typescript(target, out):
    """Files as constants of the published types."""
    index, found = json.loads((out / "index.json").read_text()), lines_of(out, "bulk-*.ndjson.gz")
    bodies = [one["body"] for one in queries_of(out)]
    if target == "elasticsearch":
        parts = ["import type { estypes } from '@elastic/elasticsearch';"]
        kinds = (
            "Omit<estypes.IndicesCreateRequest, 'index'>", "estypes.SearchRequest", "estypes.BulkRequest['operations']",
        )  # fmt: skip
    else:
        parts = ["import type { API } from '@opensearch-project/opensearch';"]
        kinds = "API.Indices_Create_RequestBody", "API.Search_RequestBody", "API.Bulk_RequestBody"
    values = [(kinds[0], index), *((kinds[1], body) for body in bodies), (kinds[2], found)]
    parts += [f"export const v{place}: {kind} = {json.dumps(value)};" for place, (kind, value) in enumerate(values)]
    return "\n".join(parts) + "\n"


WRONG = {
    "prune": ('"prune": false', '"prun": false'), "tokens": ('"query_tokens"', '"query_token"'),
    "double": ('"double"', '"dubel"'), "size": ('"size": 100', '"size": [100]'),
}  # fmt: skip


@pytest.mark.skipif(not COMPILER.exists(), reason="npm install in tests/engines/types was not done")
def test_files_have_the_published_types(indexes, tmp_path):
    """And would not have them with a name or a kind of value that is wrong."""
    files = {}
    for target in ("opensearch", "elasticsearch"):
        export_odd(target, indexes / "passages", tmp_path / target)
        text = files[f"{target}.ts"] = typescript(target, tmp_path / target / "out")
        for name, (right, wrong) in WRONG.items():
            if right in text:
                files[f"{target}-{name}-wrong.ts"] = text.replace(right, wrong)
    options = {
        "strict": True,
        "noEmit": True,
        "skipLibCheck": True,
        "module": "nodenext",
        "target": "es2022",
        "types": [],
    }
    (tmp_path / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": list(files)}))
    (tmp_path / "node_modules").symlink_to(TYPES / "node_modules")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run([COMPILER, "-p", "."], cwd=tmp_path, capture_output=True, text=True, check=False)
    refused = set(re.findall(r"^([\w-]+\.ts)\(", done.stdout, re.MULTILINE))
    assert refused == {name for name in files if name.endswith("-wrong.ts")}, done.stdout[:2000]
    assert len(refused) == 6


def words_of(text):
    """A schema as words, one form of each statement: `name: value` is `name { value }`."""
    text = re.sub(r"(\S+): *([^\n{}]+)", r"\1 {\n\2\n}", text)
    return [word for line in text.splitlines() for word in line.replace("{}", "").split()]


def test_schema_of_vespa(indexes, tmp_path):
    """What Vespa's own client writes of the same fields and profiles, word for word, but for the dictionary of numbers,
    which it has no word for."""
    export_odd("vespa", indexes / "passages", tmp_path)
    shown, stored = ["summary", "attribute"], ["summary", "index"]
    hexed = f"meta_hex_{odd.ODD_KEY.encode().hex()}"
    kinds = {"meta_year": "double", "meta_day": "long", "meta_venue": "string", "meta_tags": "array<string>",
             hexed: "string"}  # fmt: skip
    document = package.Document(fields=[
        package.Field("row_id", "string", shown),
        package.Field("title", "string", stored),
        package.Field("terms", "weightedset<int>", shown, attribute=["fast-search"]),
        package.Field("document_id", "string", shown),
        package.Field("text", "string", stored),
        *(package.Field(name, kind, shown) for name, kind in kinds.items()),
    ])  # fmt: skip
    profiles = [
        package.RankProfile("impacts", first_phase="rawScore(terms)"),
        package.RankProfile(
            "tensors", inputs=[("query(q)", "tensor<float>(term{})")],
            first_phase="sum(query(q) * tensorFromWeightedSet(attribute(terms), term))",
        ),
    ]  # fmt: skip
    summary = package.DocumentSummary(
        "shown", summary_fields=[package.Summary(name) for name in ("row_id", "title", "document_id")]
    )
    schema = package.Schema("lexigraft", document, rank_profiles=profiles, document_summaries=[summary])
    own = (tmp_path / "out" / "application" / "schemas" / "lexigraft.sd").read_text()
    own = own.replace("            dictionary: hash\n", "", 1)
    assert sorted(words_of(own)) == sorted(words_of(schema.schema_to_text))


def test_services_of_vespa(indexes, tmp_path):
    from xml.etree import ElementTree

    export_odd("vespa", indexes / "documents", tmp_path)
    own = ElementTree.parse(tmp_path / "out" / "application" / "services.xml").getroot()
    theirs = ElementTree.fromstring(package.ApplicationPackage("lexigraft").services_to_text.encode())
    assert own.attrib == theirs.attrib
    assert own.find("content/documents/document").attrib == theirs.find("content/documents/document").attrib
    assert own.find("content/nodes/node").attrib == theirs.find("content/nodes/node").attrib
    assert {part.tag for part in own.find("container")} <= {part.tag for part in theirs.find("container")}


@needs_data
@pytest.mark.parametrize("target", ["opensearch", "elasticsearch", "vespa"])
def test_files_alone_rank_as_lexigraft_does(target, tmp_path):
    """500 queries over titles of a real collection, with the rounding of each engine."""
    wanted = export_debian(target, tmp_path)
    twin = (VespaTwin if target == "vespa" else LuceneTwin)(tmp_path / "out")
    assert require_right(tmp_path, wanted, twin.search) == 500
