"""Addresses to adapters: nothing is imported or asked before it must be, and what is wrong is said in one line."""

import subprocess
import sys

import pytest

from lexigraft.core.errors import MissingExtraError, SettingError
from lexigraft.engines.address import parse_address
from lexigraft.engines.messages import client_package, no_answer, one_line
from lexigraft.engines.opening import open_engine


def test_opening_asks_for_nothing():
    code = (
        "import sys; from lexigraft.engines.opening import open_engine; "
        "from lexigraft.engines.address import parse_address; "
        "[open_engine(parse_address(f'{name}://nowhere.invalid/papers')).close() for name in ('qdrant', 'milvus')]; "
        "print(*{'qdrant_client', 'pymilvus', 'grpc', 'httpx', 'psycopg'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


@pytest.mark.parametrize(
    ("address", "said"),
    [("qdrant://h/p?colour=red", "no option 'colour'"), ("milvus://h/p?on_disk=yes", "no option 'on_disk'"),
     ("qdrant://h/p?shards=0", "a whole number from 1 on"), ("milvus://h/p?timeout=x", "a whole number from 1 on"),
     ("qdrant://h/p?on_disk=maybe", "yes or no")],
)  # fmt: skip
def test_options_are_checked(address, said):
    with pytest.raises(SettingError, match=said):
        open_engine(parse_address(address))


def test_a_client_that_is_not_installed():
    with pytest.raises(MissingExtraError, match=r"Qdrant needs the package 'no_such_client', .*pip install .*engines"):
        client_package("no_such_client.of.an_engine", "Qdrant")


def test_messages_have_one_line_and_no_secret():
    address = parse_address("qdrant://a-key@host/papers")
    said = str(no_answer("host:6333", ValueError("it is\n a-key\n" + "x" * 500), address))
    assert "\n" not in said and "a-key" not in said and len(said) < 350 and "is the server running?" in said
    assert one_line(TimeoutError(), address) == "TimeoutError"
