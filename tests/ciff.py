"""CIFF by the protobuf package, with the schema built at run time, and by a writer that anybody can follow."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

FIELDS = {
    "Header": {
        "version": "int32", "num_postings_lists": "int32", "num_docs": "int32", "total_postings_lists": "int32",
        "total_docs": "int32", "total_terms_in_collection": "int64", "average_doclength": "double",
        "description": "string",
    },
    "Posting": {"docid": "int32", "tf": "int32"},
    "PostingsList": {"term": "string", "df": "int64", "cf": "int64", "postings": "Posting"},
    "DocRecord": {"docid": "int32", "collection_docid": "string", "doclength": "int32"},
}  # fmt: skip


class Messages(NamedTuple):
    header: Any
    lists: list[Any]
    records: list[Any]


def classes() -> dict[str, Any]:
    """The messages of https://github.com/osirrc/ciff, fields numbered from 1 on."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="ciff_of_tests.proto", package="ciff_of_tests", syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    for name, fields in FIELDS.items():
        message = file.message_type.add(name=name)
        for number, (field, kind) in enumerate(fields.items(), 1):
            added = message.field.add(name=field, number=number, label=kinds.LABEL_OPTIONAL)
            if kind in FIELDS:
                added.label, added.type, added.type_name = (
                    kinds.LABEL_REPEATED,
                    kinds.TYPE_MESSAGE,
                    f".ciff_of_tests.{kind}",
                )
            else:
                added.type = getattr(kinds, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    named = {name: pool.FindMessageTypeByName(f"ciff_of_tests.{name}") for name in FIELDS}
    return {name: message_factory.GetMessageClass(one) for name, one in named.items()}


def parse(data: bytes) -> Messages:
    """All messages of a file, by protobuf; nothing may be left."""
    made, at = classes(), 0

    def take(name: str) -> Any:
        nonlocal at
        size, shift = 0, 0
        while True:
            byte = data[at]
            size, shift, at = size | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                break
        message = made[name].FromString(data[at : at + size])
        assert message.SerializeToString(deterministic=True) == data[at : at + size], "as protobuf itself writes it"
        at += size
        return message

    header = take("Header")
    lists = [take("PostingsList") for _ in range(header.num_postings_lists)]
    found = Messages(header, lists, [take("DocRecord") for _ in range(header.num_docs)])
    assert at == len(data)
    return found


def varint(value: int) -> bytes:
    value &= 2**64 - 1  # negative numbers as protobuf has them
    return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])


def field(number: int, value: int | str | bytes | float) -> bytes:
    """A field; one that is 0 or empty is left out."""
    if not value:
        return b""
    if isinstance(value, float):
        return bytes([number << 3 | 1]) + struct.pack("<d", value)
    if isinstance(value, int):
        return bytes([number << 3]) + varint(value)
    return bytes([number << 3 | 2]) + delimited(value.encode() if isinstance(value, str) else value)


def delimited(message: bytes) -> bytes:
    return varint(len(message)) + message


def postings(pairs: Sequence[tuple[int, int]], before: int = 0) -> bytes:
    written = b""
    for document, tf in pairs:
        message = field(1, document - before) + field(2, tf)
        written += b"\x22" + delimited(message)
        before = document
    return written


def posting_list(term: str | bytes, pairs: Sequence[tuple[int, int]], **other: int) -> bytes:
    df, cf = other.get("df", len(pairs)), other.get("cf", sum(tf for _, tf in pairs))
    return delimited(field(1, term) + field(2, df) + field(3, cf) + postings(pairs))


def record(number: int, doc_id: str | bytes, length: int) -> bytes:
    return delimited(field(1, number) + field(2, doc_id) + field(3, length))


def header(n_lists: int, n_documents: int, total: int = 0, description: str = "", version: int = 1) -> bytes:
    average = total / n_documents if n_documents else 0.0
    values = (version, n_lists, n_documents, n_lists, n_documents, total, average, description)
    return delimited(b"".join(field(number, value) for number, value in enumerate(values, 1)))


def whole_file(lists: Mapping[str, Mapping[int, int]], doc_ids: Sequence[str], description: str = "") -> bytes:
    """A file of {term: {document: tf}}, terms as they come."""
    lengths = [sum(one.get(number, 0) for one in lists.values()) for number in range(len(doc_ids))]
    return b"".join((
        header(len(lists), len(doc_ids), sum(lengths), description),
        *(posting_list(term, sorted(pairs.items())) for term, pairs in lists.items()),
        *(record(number, name, lengths[number]) for number, name in enumerate(doc_ids)),
    ))  # fmt: skip
