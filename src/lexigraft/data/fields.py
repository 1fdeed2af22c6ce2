"""Which field of a user's file is what: the one place that knows field names.

A file's fields play roles: those of a document are id, title and text, those of a query query.id and query.text, those
of a judgement judgement.query, judgement.document and judgement.relevance. The user names them
(`id=sku,title=name,text=description`); what is not named is guessed from common names, and whoever reads the file says
what was guessed. What plays no role is metadata.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexigraft.core.errors import InputError, SettingError

ID, TITLE, TEXT = "id", "title", "text"
QUERY_ID, QUERY_TEXT = "query.id", "query.text"
JUDGED_QUERY, JUDGED_DOCUMENT, RELEVANCE = "judgement.query", "judgement.document", "judgement.relevance"
EXAMPLE = "--fields id=sku,title=name,text=description"

Named = Mapping[str, tuple[str, ...]]  # fields by role; a role with none is one that the file does not have

_DOCUMENT_IDS = (
    "doc_id docid document_id docno corpus_id passage_id pid product_id item_id article_id page_id sku asin isbn uid "
    "uuid guid key"
).split()


@dataclass(frozen=True)
class Role:
    """What a field may be. `names` are guessed, the first that is there; `several` fields may share a role that is
    text."""

    key: str
    names: Sequence[str]
    several: bool = False
    needed: bool = False


DOCUMENT = (
    Role(ID, ("_id", "id", *_DOCUMENT_IDS)),
    Role(TITLE, "title name headline subject heading product_name product_title document_title label".split()),
    Role(
        TEXT,
        "text body content contents description abstract passage document article full_text product_description "
        "long_description summary message comment review answer".split(),
        several=True,
        needed=True,
    ),
)
QUERY = (
    Role(QUERY_ID, ("_id", "id", *"query_id qid queryid topic_id topic question_id number uid uuid key".split())),
    Role(
        QUERY_TEXT,
        "text query query_text question search keywords search_term utterance title description".split(),
        several=True,
        needed=True,
    ),
)
JUDGEMENT = (
    Role(JUDGED_QUERY, "query_id qid queryid topic_id question_id topic query".split(), needed=True),
    Role(JUDGED_DOCUMENT, (*_DOCUMENT_IDS, "document", "doc", "product", "item", "id"), needed=True),
    Role(RELEVANCE, "relevance score rel label grade judgement judgment rating gain".split()),
)
ROLES = {role.key: role for role in (*DOCUMENT, *QUERY, *JUDGEMENT)}


@dataclass(frozen=True)
class Chosen:
    """The fields of one file by role; `guessed` are the roles that nobody named, `rest` the fields without a role."""

    by_role: Named
    guessed: frozenset[str]
    rest: tuple[str, ...]

    def one(self, key: str) -> str | None:
        """The field of a role that has at most one."""
        found = self.by_role.get(key, ())
        return found[0] if found else None

    @property
    def words(self) -> str:
        """Such as: id = sku, text = description + notes."""
        return ", ".join(f"{key} = {' + '.join(names)}" for key, names in self.by_role.items() if names)

    @property
    def option(self) -> str:
        """As --fields takes it."""
        return as_option(self.by_role)


def as_option(fields: Named) -> str:
    """As `parse_fields` takes it."""
    return ",".join(_quoted(f"{key}={name}") for key, names in fields.items() for name in names or ("",))


def parse_fields(text: str) -> Named:
    """`id=sku,title=name,text=description,notes`: a name without a role is one more field of the role before it. A part
    in double quotes may hold commas. A role without a field (`id=`) is one that the file does not have."""
    found: dict[str, tuple[str, ...]] = {}
    key = ""
    for part in next(csv.reader([text]), []):
        said, equals, name = part.partition("=")
        if equals:
            key = said.strip()
        else:
            name = part
        if key not in ROLES:
            problem = f"{part!r} says no role" if not key else f"{key!r} is no role"
            raise SettingError(
                f"data.fields = {text!r} is not allowed: {problem}; write ROLE=FIELD with the roles "
                f"{', '.join(ROLES)}, such as {EXAMPLE}"
            )
        found[key] = (*found.get(key, ()), *((name.strip(),) if name.strip() else ()))
        if len(found[key]) > 1 and not ROLES[key].several:
            raise SettingError(f"data.fields = {text!r} is not allowed: {key} is one field; only text may be several")
    return found


def names_any(named: Named, roles: Sequence[Role]) -> bool:
    """Whether the user says anything of these roles."""
    return any(role.key in named for role in roles)


def choose(roles: Sequence[Role], named: Named, present: Sequence[str], where: object) -> Chosen:
    """Which of the fields `present` in a file play `roles`: as named, else guessed. Raises `InputError` where a named
    one is absent, or none fits a role that is needed."""
    for key in (role.key for role in roles):
        for name in named.get(key, ()):
            if name not in present:
                raise InputError(f"{where} has no field {name!r}, which was named for {key}; {_listed(present)}")
    found = {role.key: named[role.key] for role in roles if role.key in named}
    guessed = set()
    for role in roles:
        if role.key not in found:
            free = [name for name in present if not any(name in names for names in found.values())]
            found[role.key] = _guess(role, free)
            guessed.add(role.key)
    if not found.get(TEXT, ("",)) and TITLE in guessed and TEXT in guessed:
        found[TEXT], found[TITLE] = found[TITLE], ()  # a file of names alone
    for role in roles:
        if role.needed and not found[role.key]:
            example = ",".join(f"{one.key}={'...' if one is not role else 'FIELD'}" for one in roles if one.needed)
            raise InputError(
                f"{where}: none of its fields has a name that is known for {role.key}; {_listed(present)}. Name it: "
                f"--fields {example}"
            )
    used = {name for names in found.values() for name in names}
    ordered = {role.key: found[role.key] for role in roles}
    return Chosen(ordered, frozenset(guessed), tuple(name for name in present if name not in used))


def _guess(role: Role, free: Sequence[str]) -> tuple[str, ...]:
    by_name: dict[str, str] = {}
    for name in free:
        by_name.setdefault(_plain(name), name)
    return next(((by_name[name],) for name in role.names if name in by_name), ())


def _plain(name: str) -> str:
    """As common names are compared: "Product Name" is product_name. An underscore at the start stays."""
    return re.sub(r"[\W_]+", "_", name.strip().casefold()).rstrip("_")


def _listed(present: Sequence[str]) -> str:
    return f"its fields are {listed(present) or 'none'}"


def listed(names: Sequence[str]) -> str:
    """The first of them, where they are very many."""
    return ", ".join(names[:40]) + (f" and {len(names) - 40:,} more" if len(names) > 40 else "")


def _quoted(part: str) -> str:
    return '"' + part.replace('"', '""') + '"' if "," in part or '"' in part else part
