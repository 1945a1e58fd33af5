"""Find words that are not those of the glossary, in the prose and the catalogues of zh and ko.

    python tools/glossary.py           say which words stand where, and exit with 1 if any do

One word for one thing: translators of prose and of catalogues come one after another, and a
learner who meets three words believes in three things. glossary.toml says which word a term has.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from project_files import ROOT

LANGUAGES = ("zh", "ko")
PROSE = ("notebooks", "notebooks/solutions", "docs/pages")
CATALOGUES = ("tinytorch/locale", "widgets/copylab/locale")
_GLOSSARY = Path(__file__).with_suffix(".toml")
_CODE = re.compile(r"```.*?```|`[^`\n]*`|<code>.*?</code>", re.DOTALL)
_NOT_TRANSLATED = re.compile(r"^(?:#|msgid).*$", re.MULTILINE)


class Term(NamedTuple):
    """A term of the course, the word for it, and patterns of what is not written for it."""

    english: str
    word: str
    forbidden: tuple[str, ...]


def read_terms(language: str) -> list[Term]:
    """Return the terms of the glossary in a language; a word is empty if only others are barred."""
    entries = tomllib.loads(_GLOSSARY.read_text("utf-8"))["term"]
    return [
        Term(entry["en"], entry.get(language, ""), tuple(entry.get(f"not_{language}", ())))
        for entry in entries
    ]


def read_texts(language: str, root: Path = ROOT) -> dict[str, str]:
    """Return all that is translated into a language, by file: prose, and what catalogues say."""
    texts = {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for folder in PROSE
        for path in sorted((root / folder / "translations" / language).glob("*.md"))
    }
    for folder in CATALOGUES:
        for path in sorted((root / folder / language).rglob("*.po")):
            # The next lines of a long msgid stay: English, in which no pattern finds anything.
            said = _NOT_TRANSLATED.sub("", path.read_text("utf-8"))
            texts[path.relative_to(root).as_posix()] = said
    readme = root / f"README.{language}.md"
    if readme.is_file():
        texts[readme.name] = readme.read_text("utf-8")
    return texts


def find_forbidden(terms: list[Term], text: str) -> Iterator[str]:
    """Say which forbidden words a text has, each with its line and the text around it."""
    barred = [term for term in terms if term.forbidden]
    # A group for each term: the last one that matched tells which it is.
    pattern = re.compile("|".join(f"({'|'.join(term.forbidden)})" for term in barred))
    text = _CODE.sub(lambda code: "`" + "\n" * code.group().count("\n") + "`", text)
    for found in pattern.finditer(text):
        term = barred[(found.lastindex or 1) - 1]
        around = text[max(0, found.start() - 20) : found.end() + 20].replace("\n", " ")
        line = text.count("\n", 0, found.start()) + 1
        wanted = f"; the word for {term.english} is {term.word}" if term.word else ""
        if term.word and term.word in found.group():
            # The right word, with a classifier before it or a particle behind it that does not go with it.
            rule = next(
                each for each in term.forbidden if re.compile(each).match(text, found.start())
            )
            wanted = f"; {term.word} is the word, but not as in {rule!r}"
        yield f"{line}: {found.group()!r} is barred in {around!r}{wanted}"


def find_faults() -> list[str]:
    """Return a line for each forbidden word, and for each term whose word is nowhere."""
    faults = []
    for language in LANGUAGES:
        terms, texts = read_terms(language), read_texts(language)
        for name, text in texts.items():
            faults += [f"{name}:{fault}" for fault in find_forbidden(terms, text)]
        whole = "\n".join(texts.values())
        unused = [term.word for term in terms if term.word not in whole]
        faults += [f"{language}: {word!r} of the glossary is written nowhere" for word in unused]
    return faults


if __name__ == "__main__":
    found = find_faults()
    print("\n".join(found) or "Prose and catalogues use the words of the glossary.")
    sys.exit(bool(found))
