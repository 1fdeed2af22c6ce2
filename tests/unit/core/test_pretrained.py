"""Nothing of the package opens what others made as a program: read from its source."""

import ast
import re
from pathlib import Path

import lexigraft

SOURCES = sorted(Path(lexigraft.__file__).parent.rglob("*.py"))
OPENS_MODELS = ("from_pretrained", "from_config")
RUNS_WHAT_IT_READS = r"\b(?:import|from) +(pickle|_pickle|dill|cloudpickle|joblib|marshal|shelve)\b"


def calls(file: Path, *names: str) -> list[ast.Call]:
    """The calls of methods of these names; only a file that holds one of them is parsed."""
    text = file.read_text()
    if not any(name in text for name in names):
        return []
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return [node for node in found if isinstance(node.func, ast.Attribute) and node.func.attr in names]


def test_one_file_opens_models_of_others_and_refuses_their_code():
    found = {file.name: calls(file, *OPENS_MODELS) for file in SOURCES}
    # lexigraft_module.py is part of an export, runs without this package, and opens the folder that it lies in
    assert sorted(name for name, made in found.items() if made) == ["lexigraft_module.py", "pretrained.py"]
    (opened,) = [call for call in found["lexigraft_module.py"] if ast.unparse(call.func).endswith("from_pretrained")]
    assert {"trust_remote_code=False", "local_files_only=True"} <= {ast.unparse(word) for word in opened.keywords}
    assert len(found["pretrained.py"]) == 4
    assert all("**NO_CODE" in ast.unparse(call) for call in found["pretrained.py"])


def test_nothing_unpickles():
    for file in SOURCES:
        assert not re.search(RUNS_WHAT_IT_READS, file.read_text()), file
        for call in calls(file, "load"):
            words = {word.arg: ast.unparse(word.value) for word in call.keywords}
            if ast.unparse(call.func) == "torch.load":
                assert words.get("weights_only") == "True", file
            assert words.get("allow_pickle", "False") == "False", file
