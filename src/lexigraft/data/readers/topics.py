"""Files of queries: JSON lines (BEIR), tab-separated (MS MARCO), and TREC topics in their old and new markup."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from lexigraft.core.errors import InputError
from lexigraft.core.types import Query
from lexigraft.data.fields import QUERY, QUERY_ID, Named, choose, names_any
from lexigraft.data.readers.documents import checked_id, json_records, split_fields, text_field
from lexigraft.data.readers.formats import bare_suffix, format_of
from lexigraft.data.readers.html_text import unescaped
from lexigraft.data.readers.lines import Line, read_lines, read_whole
from lexigraft.data.readers.own import OwnFile
from lexigraft.data.readers.records import Record
from lexigraft.data.readers.tables import first_line

Queries = Iterator[tuple[Line, Query]] | Iterator[tuple[Record, Query]]

_TOPIC = re.compile("<top>", re.IGNORECASE)
_TOPIC_END = re.compile("</top>", re.IGNORECASE)
_TABLES = (".csv", ".json", ".jsonl", ".ndjson", ".parquet", ".pq")
_TAGS = "num|title|desc|narr|top|dom|smry|con|fac|def|nat|time"  # of the collections of thirty years
_FIELD = re.compile(rf"<(num|title)>(.*?)(?=</?(?:{_TAGS})\b|\Z)", re.DOTALL | re.IGNORECASE)
_INLINE_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_LABEL = re.compile(r"^\s*(number|topic)\s*:", re.IGNORECASE)
_HEADER_IDS = ("query-id", "queryid", "qid", "query id")  # how a header line names its first column
# In newer topics the number is an attribute, and the text one of these elements.
_TEXT_ELEMENTS = ("title", "query", "question", "description")


def read_queries(path: Path, on_bad_bytes: str = "error", named: Named | None = None) -> Queries:
    """The queries of a file, by what it holds: a table or JSON, TREC topics (<top> or XML), or id and text between
    tabs. `named` are the fields that the user names."""
    fields, suffix = named or {}, bare_suffix(path)
    if suffix == ".jsonl" and not names_any(fields, QUERY) and _is_beir(path, on_bad_bytes):
        return _json_queries(path, on_bad_bytes)
    if names_any(fields, QUERY) or suffix in _TABLES or (suffix == ".tsv" and _has_header(path)):
        return OwnFile(format_of(path), fields).queries(path, on_bad_bytes)
    first = next((line.text.lstrip() for line in read_lines(path, on_bad_bytes)), "")
    return _topics(path, on_bad_bytes) if first.startswith("<") else _tsv_queries(path, on_bad_bytes)


def _is_beir(path: Path, on_bad_bytes: str) -> bool:
    """Whether the file begins as BEIR's do, or with nothing."""
    _, record = next(json_records(path, on_bad_bytes), (None, {"_id": "", "text": ""}))
    return isinstance(record.get("_id"), str) and "text" in record


def _has_header(path: Path) -> bool:
    """Whether the first line of a table names an id and a text."""
    line = first_line(path)
    cells = line.text.split("\t") if line is not None else []
    if len(cells) < 2:
        return False
    try:
        return len(choose(QUERY, {}, cells, path).by_role[QUERY_ID]) == 1
    except InputError:
        return False


def _json_queries(path: Path, on_bad_bytes: str) -> Queries:
    for line, record in json_records(path, on_bad_bytes):
        yield line, Query(text_field(record, "_id", line.where), text_field(record, "text", line.where))


def _tsv_queries(path: Path, on_bad_bytes: str) -> Queries:
    for line in read_lines(path, on_bad_bytes):
        query_id, text = split_fields(line, 2, "query-id and text")
        if line.number == 1 and query_id.lower().replace("_", "-") in _HEADER_IDS:
            continue
        yield line, Query(checked_id(query_id, line.where), text)


def _topics(path: Path, on_bad_bytes: str) -> Queries:
    """Topics are few: the file is read as a whole. The old markup is not XML (fields have no end)."""
    text = read_whole(path, on_bad_bytes)
    parts = (_TOPIC_END.split(part, maxsplit=1) for part in _TOPIC.split(text)[1:])
    topics = [part[0] for part in parts if len(part) > 1 or _FIELD.search(part[0])]  # one may lack its end
    found = [_old_topic(topic) for topic in topics] if topics else _xml_topics(text, path)
    if not found:
        raise InputError(f"{path}: no <top> or <topic> was found; it is not a file of TREC topics")
    for place, (query_id, words) in enumerate(found, 1):
        if not query_id or not words:
            raise InputError(f"{path}, topic {place}: a topic needs a number and a title")
        yield Line(place, path, words), Query(checked_id(query_id, f"{path}, topic {place}"), words)


def _old_topic(topic: str) -> tuple[str, str]:
    found = reversed(_FIELD.findall(topic))
    fields = {name.lower(): unescaped(_INLINE_TAG.sub("", _LABEL.sub("", value))) for name, value in found}
    return _one_line(fields.get("num", "")), _one_line(fields.get("title", ""))


def _xml_topics(text: str, path: Path) -> list[tuple[str, str]]:
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: neither <top> topics nor well-formed XML: {error}") from error
    return [(_number(topic), _topic_text(topic)) for topic in root.iter("topic")]


def _number(topic: ElementTree.Element) -> str:
    named = topic.get("number") or topic.get("id") or topic.findtext("number") or topic.findtext("num") or ""
    return _one_line(named)


def _topic_text(topic: ElementTree.Element) -> str:
    elements = (topic.find(name) for name in _TEXT_ELEMENTS)
    texts = (_one_line("".join(element.itertext())) for element in elements if element is not None)
    return next((text for text in texts if text), _one_line(topic.text or ""))


def _one_line(text: str) -> str:
    return " ".join(text.split())
