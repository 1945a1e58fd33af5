"""Run the lessons and their solutions in the other languages, and store what they show.

    python tools/run_in_languages.py               all, in all languages
    python tools/run_in_languages.py 02_clone      those whose name holds this
    python tools/run_in_languages.py --check       say what is out of date; run and change nothing

It comes after `execute_notebooks.py` and `make_solutions.py`: what is stored is compared with the
English outputs, and a cell whose English outputs have changed since is laid out in English. After a
change of the catalogues, `--check` names the notebooks that show one of the changed texts.
"""

from __future__ import annotations

import argparse
import functools
import json
import lzma
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from html import unescape
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from babel.messages.mofile import read_mo
from copylab.course.solutions import make_solution
from copylab.course.translation import (
    CATALOGUES,
    OUTPUTS,
    TRANSLATIONS,
    CellInLanguage,
    digest_of_cell,
    digest_of_text,
    find_stale_cells,
    list_languages,
    read_run,
)
from copylab.wording import set_language
from execute_notebooks import NOTEBOOKS, list_lessons, normalise_notebook, run_cells
from make_catalogue import DOMAINS, HOLE
from make_solutions import FOLDER
from project_files import ROOT, read_notebook

_NO_WORDS = re.compile(r"<(script|style)\b.*?</\1>|data:image/[^\"]*|<[^>]*>", re.DOTALL)
"""What a page has beside its words."""


class Job(NamedTuple):
    """A notebook to be run in a language."""

    path: Path
    language: str


def list_jobs(pattern: str = "") -> list[Job]:
    """Return the lessons and solutions whose name has `pattern` in it, each in each language."""
    notebooks = [*list_lessons(pattern), *list_lessons(pattern, FOLDER)]
    return [Job(path, language) for language in list_languages(NOTEBOOKS) for path in notebooks]


def run_in_language(job: Job) -> dict[str, CellInLanguage]:
    """Run a lesson or solution in a language and return how its cells differ from English."""
    set_language(job.language)
    english = notebook = read_notebook(job.path)
    if job.path.parent == FOLDER:
        notebook = json.loads(
            normalise_notebook(make_solution(NOTEBOOKS / job.path.name, job.language))
        )
    executed = json.loads(normalise_notebook(run_cells(notebook, job.path.parent, job.language)))
    shown = digest_of_translations(english, read_catalogues(job.language))
    return {**compare_with_english(english, executed), CATALOGUES: CellInLanguage(shown, {})}


def compare_with_english(
    english: dict[str, Any], executed: dict[str, Any]
) -> dict[str, CellInLanguage]:
    """Return the cells of a notebook that was run in a language; prose only where it differs."""
    cells = {}
    for cell, in_language in zip(english["cells"], executed["cells"], strict=True):
        fields = {
            name: in_language[name]
            for name in ("source", "outputs")
            if in_language.get(name) != cell.get(name)
        }
        if fields or cell["cell_type"] == "code":
            cells[cell["id"]] = CellInLanguage(digest_of_cell(cell), fields)
    return cells


@functools.cache
def read_catalogues(language: str) -> dict[str, str]:
    """Return each text of the catalogues with its translation; of one with a plural, the singular."""
    translations = {}
    for domain in DOMAINS:
        folder = ROOT / domain.package / "locale" / language / "LC_MESSAGES"
        with (folder / f"{domain.name}.mo").open("rb") as file:
            for message in read_mo(file):
                text = message.id if isinstance(message.id, str) else message.id[0]
                translations[text] = str(message.string)
    return translations


def digest_of_translations(english: dict[str, Any], translations: dict[str, str]) -> str:
    """Return the digest of the translations of all texts that a notebook shows.

    Which those are is read off its English outputs: all whose longest piece without a name to be
    filled in is there. A few too many make a digest old too early, and do no other harm.
    """
    words = read_shown_words(english)
    shown = [
        f"{text}\n{translation}"
        for text, translation in sorted(translations.items())
        if (piece := _find_longest_piece(text)) and piece in words
    ]
    return digest_of_text("\n".join(shown))


def read_shown_words(notebook: dict[str, Any]) -> str:
    """Return the prose and all outputs of a notebook, its pages without tags and scripts."""
    words = []
    for cell in notebook["cells"]:
        # A solution has the tasks as prose.
        words.append("".join(cell["source"]) if cell["cell_type"] == "markdown" else "")
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            words += ["".join(output.get("text", [])), "".join(data.get("text/plain", []))]
            words.append(unescape(_NO_WORDS.sub("", "".join(data.get("text/html", [])))))
    return "\n".join(words)


@functools.cache
def _find_longest_piece(text: str) -> str:
    """Return the longest piece of a text that is shown as it is; empty if it is hardly a word."""
    # A page has no marks of code and of what is bold.
    pieces = re.split(r"[`*\n]", HOLE.sub("\n", text))
    piece = max((piece.strip() for piece in pieces), key=len)
    return piece if len(piece) > 2 else ""


def store_runs(jobs: list[Job], runs: list[dict[str, CellInLanguage]]) -> None:
    """Store runs in the files of their languages; what is stored of other notebooks stays."""
    by_file: dict[Path, dict[str, dict[str, CellInLanguage]]] = {}
    for job, run in zip(jobs, runs, strict=True):
        by_file.setdefault(outputs_file(job), {})[job.path.stem] = run
    for file, new in by_file.items():
        folder, language = file.parents[2], file.parent.name
        stored = {path.stem: read_run(path, language) for path in list_lessons(folder=folder)}
        content = json.dumps(stored | new, ensure_ascii=False, sort_keys=True)
        file.write_bytes(lzma.compress(content.encode(), preset=9))
        print(f"stored {file.relative_to(NOTEBOOKS.parent)}, {file.stat().st_size // 1000} kB")


def outputs_file(job: Job) -> Path:
    """Return the file with what a notebook shows in a language."""
    return job.path.parent / TRANSLATIONS / job.language / OUTPUTS


def find_faults(job: Job) -> list[str]:
    """Say which cells of a notebook are out of date in a language, a line for each."""
    english, run = read_notebook(job.path), read_run(job.path, job.language)
    place = f"{job.path.parent.name}/{job.path.name} in {job.language}"
    faults = [
        f"{place}, {cell}: the English cell has changed" for cell in find_stale_cells(english, run)
    ]
    shown = digest_of_translations(english, read_catalogues(job.language))
    if CATALOGUES not in run or run[CATALOGUES].digest != shown:
        faults.append(f"{place}: a translation of what it shows has changed")
    return faults


def main(argv: list[str] | None = None) -> int:
    """Run and store, or check; see the module's text."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pattern", nargs="?", default="", help="only those whose name holds this")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if one is out of date"
    )
    options = parser.parse_args(argv)
    jobs = list_jobs(options.pattern)
    if options.check:
        faults = [fault for job in jobs for fault in find_faults(job)]
        print("\n".join([*faults, "run: python tools/run_in_languages.py"] if faults else []))
        return bool(faults)
    # Processes: each has one language. Not forked: a kernel's client has threads.
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        store_runs(jobs, list(pool.map(run_in_language, jobs)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
