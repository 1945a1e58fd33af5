"""Make docs/compatibility.md, and the table of it that stands in README.md, from the code.

python docs/make_compatibility.py            writes both; needs PyTorch, whose names are counted
python docs/make_compatibility.py --check    writes nothing; says what is not as it would be made
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
DOCUMENT = ROOT / "docs" / "compatibility.md"
README = ROOT / "README.md"
START, END = "<!-- compatibility: written by docs/make_compatibility.py -->", "<!-- end of compatibility -->"
HEAD = """# What tinytorch has of PyTorch 2.13

Made by `python docs/make_compatibility.py`; do not edit. A name that is "not there" raises PyTorch's own
`AttributeError`, with a note that says so.

"""


def pages() -> dict[Path, str]:
    """The two files as they should be."""
    from tinytorch.compatibility import table

    made = table("torch")
    before, _, rest = README.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    counts = made.partition("\n\n")[0]
    return {DOCUMENT: HEAD + made, README: f"{before}{START}\n{counts}\n{END}{after}"}


def main() -> None:
    """Write or check."""
    stale = [path for path, text in pages().items() if path.read_text(encoding="utf-8") != text]
    if sys.argv[1:] == ["--check"]:
        if stale:
            sys.exit("not current: " + ", ".join(p.name for p in stale))
        return
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
