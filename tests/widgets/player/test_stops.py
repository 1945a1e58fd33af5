"""The player's pure functions, tested by Node.js: the one on the path, or the one that playwright brings."""

import json
import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
from copylab.player.packing import Pack
from project_files import ROOT

TESTS = Path(__file__).with_name("stops.test.mjs")
STOPS = ROOT / "widgets" / "copylab" / "player" / "web" / "stops.js"
TEXTS = ["<a><b>1</b></a>", "<a><b>`2`</b></a>", "", "<a>~<b>1</b><b>1</b><b>1</b></a></script>"]


def find_node() -> str | None:
    """Return the path of Node.js, or None if there is none."""
    playwright = find_spec("playwright")
    folders = (playwright.submodule_search_locations or []) if playwright else []
    brought = [str(path) for folder in folders for path in Path(folder).glob("driver/node*")]
    return shutil.which("node") or next(filter(os.path.isfile, brought), None)


@pytest.mark.skipif(find_node() is None, reason="Node.js is not installed")
def test_the_functions_of_the_player_compute_what_they_say(tmp_path: Path) -> None:
    pack = Pack()
    for number, text in enumerate(TEXTS, 1):
        pack.add("memory text", number, text)
    texts = {"memory text": dict(enumerate(TEXTS, 1))}
    module = tmp_path / "stops.mjs"  # by its name Node.js knows that it is a module
    module.write_bytes(STOPS.read_bytes())
    run = subprocess.run(
        [str(find_node()), "--test", str(TESTS)],
        env=os.environ
        | {
            "STOPS_JS": module.as_uri(),
            "PACK": json.dumps({"pack": json.loads(pack.to_json(10**6)), "texts": texts}),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "pass 9" in run.stdout
