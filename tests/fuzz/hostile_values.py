"""Values that no command was made for, and conditions and settings made of them: a grammar with a seed."""

import random
from collections.abc import Sequence

LONG = 100_000  # characters; a command line can hold 128 KiB in one argument
TEXTS = (
    "", " ", "\x01", "\x1b[31mred\x1b[0m\x1b]0;title\x07", "\udcff\udcfe", "\u202eabc\u2066", "a" * LONG, "[" * 3000,
    "{" * 3000, "(" * 3000, "null", "true", "a\nb", "a\rb", "a\tb", "'", '"', '"""', "\\", "\\u0000", "🦆" * 50,
    "\ufeff", "--", "-", "@a", "~", "x=y", "=", ",", ",,,", ";", "%s%n%d", "{0}", "$(touch owned)", "`touch owned`",
    "[red]markup[/red]",
    "m0.8", "m", "mNaN", "m1e400", "0,0", "1,2,3", "0x10", "1_000", "\x7f", "\x9b31m", "None", "auto", "bm25",
    "ir_datasets:none/such", "pydocs:", "/", "*", "a" * 300, "🦆\udcff\x1b",
)  # fmt: skip
NUMBERS = (
    "0", "-1", "1", "2", "-0", "9" * 400, "-" + "9" * 400, "NaN", "-nan", "inf", "-inf", "1e400", "1e-400", "1e308",
    "0.5", "1.5", "2147483648", "-2147483649", "9223372036854775808", "18446744073709551616", "٣", "1e5", "+1", " 1",
    "1 ", "0.1.2",
)  # fmt: skip
# Inside of the folder of the case, which is thrown away.
PATHS = (
    "data", "plain", "live", "run", "empty", "empty.jsonl", "bytes.bin", "fifo", "loop", "dangling", "missing/below",
    "data/corpus.jsonl", "queries.jsonl", "qrels.tsv", "a.trec", "b.trec", "plain/manifest.json", "live/manifest.json",
    "hostile.jsonl", "hostile.csv", "hostile.tsv", "hostile.trec", "hostile.qrels", "hostile.toml", "hostile.json",
    "deep.json",
    "\x1b[2J.jsonl", "name\nof lines", "a" * 300, "a/" * 1500, ".", "data/../data", "plain/", "utf16.csv",
    "cut.jsonl.gz",
    "vocab", "nul.jsonl", "twice.jsonl", "pages", "tails.html", "tail.html", "hashes.md", "list.md", "wide.jsonl",
    "own.jsonl", "wide.csv", "topics.txt", "bomb.json.gz", "hole.md", "hole.json", "hole.jsonl", "hole.csv", "hole.tsv",
    "hole.txt", "hole.toml", "hole.trec",
)  # fmt: skip
READ_ONLY_PATHS = ("/dev/null", "/proc/self/cmdline", "/proc/self/mem", "/dev/full")  # of what is only read
OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "in", "has", "==", "~", "")
KEYS = ("year", "tags", "lang", "absent", "", "and", "not", "\x1b", "a b", '"year"')


def value(rng: random.Random, is_read: bool) -> str:
    """Any value; `is_read`: that of an option whose file is never written."""
    kinds: list[Sequence[str]] = [TEXTS, NUMBERS, PATHS, *([READ_ONLY_PATHS] if is_read else [])]
    return rng.choice(rng.choice(kinds))


def setting(rng: random.Random, names: Sequence[str]) -> str:
    """What --set is given."""
    name = rng.choice([*names, *names, "no.such", "", ".", "systems.a.model.alpha", "systems.\x1b.kind", "lexical"])
    given = rng.choice(
        [*TEXTS, *NUMBERS, "[]", "[1, [2]]", "{a = 1}", '"text"', "1979-05-27", "true", "[" * 400 + "]" * 400]
    )
    return rng.choice([f"{name}={given}", f"{name} = {given}", f"{name}", given])


def condition(rng: random.Random, depth: int = 2) -> str:
    """What --where is given."""
    if depth and rng.random() < 0.4:
        left, right = condition(rng, depth - 1), condition(rng, depth - 1)
        return rng.choice([f"({left}) and ({right})", f"{left} or {right}", f"not {left}", f"({left}", f"{left})"])
    if rng.random() < 0.1:
        return rng.choice(
            ["(" * 3000 + "year = 1" + ")" * 3000, "not " * 3000 + "year = 1", " and ".join(["year = 1"] * 3000)]
        )
    operand = rng.choice([*TEXTS[:20], *NUMBERS, "(1, 2)", "[1, 2]", "(", '"a"', "2020"])
    return f"{rng.choice(KEYS)} {rng.choice(OPERATORS)} {operand}"
