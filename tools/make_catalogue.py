"""Read the texts for people out of the code, and bring the catalogues of all languages up to date.

    python tools/make_catalogue.py             write the templates, the languages, the .mo files
    python tools/make_catalogue.py --check     say what is wrong or not translated; exit with 1 if
                                               anything is

There are two domains: `tinytorch` has the texts of pictures, `copylab` those of widgets, questions
and lessons. The template of a domain is locale/DOMAIN.pot in its package. A translator copies it to
LANGUAGE/LC_MESSAGES/DOMAIN.po beside it; from then on this script brings that file up to date, and
makes DOMAIN.mo of it, which is read at run time. A text that has changed or is new has the most
similar translation there is, marked `fuzzy`, or none; one that is gone is gone. What is marked may
be of quite another text: it is to be written anew, and the mark taken out.
"""

from __future__ import annotations

import argparse
import ast
import re
import string
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po, write_po
from project_files import ROOT

DEFINING_FILES = ("tinytorch/viz/wording/catalogue.py", "widgets/copylab/ui/web/say.js")
"""The files that define the functions below."""
TEXT_ARGUMENTS = {"gettext": 1, "gettext_noop": 1, "_": 1, "ngettext": 2}
"""The functions that take texts, and how many; `_` is what a long table calls gettext_noop."""
LESSONS = "widgets/copylab/lessons/"
LESSON_ARGUMENTS: dict[str, tuple[int | str, ...]] = {
    "": ("title", "prompt", "because", "hint", "wrong"),  # of any other call
    "predict": ("title",),
    # Their `wrong` is for those who test them.
    **dict.fromkeys(("exercise", "task"), (1, "task", "title", "about", "hints", "right")),
    "Misconception": (0, 1, 2, "name", "belief", "argument"),
    "Question": (0, 1, 3, 4, "prompt", "choices", "wrong", "because", "hint"),
}
"""The arguments in a lesson's data that are texts: literals, translated when they are shown."""
TABLE = ("widgets/copylab/quiz/misconceptions.py", "_BELIEFS_AND_ARGUMENTS")
"""A table of nothing but texts, as plain as a lesson's."""
CHECK_ARGUMENTS = {"CheckedFact": (1, 2), "with_objection": (0,), "wrong": (0,)}
"""The arguments of checks, which are put together when they run: texts go through gettext."""
HOLE = re.compile(r"\{\w+(?:![rs])?(?::[^{}]*)?\}")
Text = str | tuple[str, str]
"""A text, or its singular and plural."""


class Domain(NamedTuple):
    """A domain of gettext, and the folder of the package whose texts it has."""

    name: str
    package: str


DOMAINS = (Domain("tinytorch", "tinytorch"), Domain("copylab", "widgets/copylab"))


class DomainTexts:
    """The texts of a domain, read out of the code now.

    template: the catalogue of the texts, with the files that contain them.
    languages: the translators' catalogues by the files that they are in, brought up to date with
    the template.
    faults: the texts in the code that nobody could translate, a line for each.
    """

    def __init__(self, domain: Domain, root: Path = ROOT) -> None:
        self.template = Catalog(project="copylab", copyright_holder="the copylab authors")
        self.languages: dict[Path, Catalog] = {}
        self.faults: list[str] = []
        self._path = root / domain.package / "locale" / f"{domain.name}.pot"
        for path in sorted((root / domain.package).rglob("*.*")):
            name = path.relative_to(root).as_posix()
            for text in _texts_in_file(path, name, self.faults):
                # Without a line: an edit further up in the file would change the catalogues of all
                # languages.
                self.template.add(text, locations=[(name, 0)])
        for path in sorted(self._path.parent.glob(f"*/LC_MESSAGES/{domain.name}.po")):
            with path.open("rb") as file:
                self.languages[path] = read_po(file, locale=path.parts[-3])
            # With a date of now, each run would change all files.
            self.languages[path].update(self.template, update_creation_date=False)

    def files(self) -> dict[Path, bytes]:
        """Return what the files of the domain should contain."""
        files = {self._path: _po_content(self.template, omit_header=True)}
        for path, catalog in self.languages.items():
            files[path] = _po_content(catalog)
            compiled = BytesIO()
            write_mo(compiled, catalog)
            files[path.with_suffix(".mo")] = compiled.getvalue()
        return files

    def texts(self) -> set[Text]:
        """Return the texts alone."""
        return {_text_of(message) for message in self.template if message.id}


def _text_of(message: Message) -> Text:
    return message.id if isinstance(message.id, str) else (message.id[0], message.id[1])


def _po_content(catalog: Catalog, *, omit_header: bool = False) -> bytes:
    content = BytesIO()
    write_po(
        content,
        catalog,
        width=0,
        sort_by_file=True,
        include_lineno=False,
        ignore_obsolete=True,
        omit_header=omit_header,
    )
    return content.getvalue()


# Texts in the code


def _texts_in_file(path: Path, name: str, faults: list[str]) -> Iterator[Text]:
    if path.suffix == ".py" and name not in DEFINING_FILES:
        yield from _python_texts(path, name, faults)
    elif path.suffix == ".js" and name not in DEFINING_FILES:
        yield from _script_texts(path, name, faults)


def _python_texts(path: Path, name: str, faults: list[str]) -> Iterator[Text]:
    """Yield the texts of a module.

    Babel's own extractor would see neither faults nor lessons' data.
    """
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Assign) and (name, getattr(node.targets[0], "id", "")) == TABLE:
            for constant in ast.walk(node.value):
                if isinstance(constant, ast.Constant):
                    yield str(constant.value)
        if isinstance(node, ast.Call):
            if name.startswith(LESSONS):
                yield from _lesson_texts(node, name, faults)
            yield from _call_texts(node, name, faults)


def _call_texts(call: ast.Call, name: str, faults: list[str]) -> Iterator[Text]:
    """Yield the text in a call of `gettext` and the like."""
    function = _function_name(call)
    if function not in TEXT_ARGUMENTS:
        return
    arguments = call.args[: TEXT_ARGUMENTS[function]]
    literals = [text for text in map(_string_value, arguments) if text is not None]
    if len(literals) == TEXT_ARGUMENTS[function]:
        yield literals[0] if len(literals) == 1 else (literals[0], literals[1])
        values = {keyword.arg for keyword in call.keywords}
        is_filled_in_here = function not in ("gettext_noop", "_") and None not in values
        if is_filled_in_here and (fault := _find_hole_fault(literals, values)):
            faults.append(f"{name}:{call.lineno}: {fault}")
        return
    # A name may be that of a text in a table, marked with gettext_noop. What is put together is in
    # no catalogue.
    is_name = isinstance(arguments[0], ast.Name | ast.Attribute | ast.Subscript)
    if function != "gettext" or not is_name:
        faults.append(f"{name}:{call.lineno}: {function}() is to be given a text in quotes")


def _find_hole_fault(texts: list[str], values: set[str | None]) -> str:
    """Say how the holes of texts and the values for them differ; empty if they agree."""
    holes = set()
    for text in texts:
        # As `str.format` reads them when the text is shown.
        holes |= {hole for _, hole, _, _ in string.Formatter().parse(text) if hole is not None}
    if len(texts) == 2:
        holes.discard("number")  # ngettext fills it in
    if not values:
        # Then nothing is filled in, and braces around something else are part of the text.
        holes = {hole for hole in holes if hole.isidentifier()}
    if holes == values:
        return ""
    return f"{texts[0]!r} has {sorted(holes)} and is given {sorted(map(str, values))}"


def _lesson_texts(call: ast.Call, name: str, faults: list[str]) -> Iterator[str]:
    """Yield the texts among the arguments of a call in a lesson's data."""
    function = _function_name(call)
    arguments: dict[int | str | None, ast.expr] = dict(enumerate(call.args))
    arguments |= {keyword.arg: keyword.value for keyword in call.keywords}
    for place in LESSON_ARGUMENTS.get(function, LESSON_ARGUMENTS[""]):
        for part in _parts_of_argument(arguments.get(place)):
            if (text := _string_value(part)) is not None:
                yield text
            elif isinstance(part, ast.JoinedStr | ast.BinOp):
                fault = f"{place} is to be a text in quotes, or a function that says it"
                faults.append(f"{name}:{part.lineno}: {fault}")
    for place in CHECK_ARGUMENTS.get(function, ()):
        argument = arguments.get(place)
        if isinstance(argument, ast.JoinedStr) or _string_value(argument):
            faults.append(f"{name}:{call.lineno}: {function}() is to be given what gettext says")


def _parts_of_argument(argument: ast.expr | None) -> list[ast.expr]:
    """Return the items of a list, the values of a dict, or the argument itself."""
    if isinstance(argument, ast.Dict):
        return argument.values
    if isinstance(argument, ast.List | ast.Tuple):
        return argument.elts
    return [] if argument is None else [argument]


def _function_name(call: ast.Call) -> str:
    name: str = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return name


def _string_value(node: ast.expr | None) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def _script_texts(path: Path, name: str, faults: list[str]) -> Iterator[Text]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if re.search(r"\bsay\((?!\"|$)", line):
            faults.append(f"{name}:{number}: say() is to be given a text in double quotes")
    options = {"encoding": "utf-8", "parse_template_string": True}
    with path.open("rb") as file:
        for _, text, _, _ in extract("javascript", file, {"say": None}, options=options):
            assert isinstance(text, str)
            yield text


# Files


def write_files(root: Path = ROOT) -> None:
    """Write the templates, the languages and what is read at run time."""
    for domain in DOMAINS:
        for path, content in DomainTexts(domain, root).files().items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def find_faults(root: Path = ROOT) -> list[str]:
    """Return what is wrong, out of date or not translated, a line for each."""
    faults = []
    translations: dict[tuple[str, Text], list[str]] = {}
    for texts in (DomainTexts(domain, root) for domain in DOMAINS):
        faults += texts.faults
        for path, content in texts.files().items():
            if not _is_current(path, content):
                name = path.relative_to(root).as_posix()
                faults.append(f"{name} is out of date: run tools/make_catalogue.py")
        for path, catalog in texts.languages.items():
            language = path.parts[-3]
            for message in catalog:
                if not message.id:  # the head of the file
                    continue
                if fault := _find_translation_fault(message):
                    faults.append(f"{language}: {fault}")
                # At run time tinytorch's catalogue is asked first: another translation in copylab's
                # is never seen.
                key = (language, _text_of(message))
                if translations.setdefault(key, _forms(message)) != _forms(message):
                    faults.append(f"{language}: two translations of {message.id!r}")
    return faults


def _is_current(path: Path, content: bytes) -> bool:
    """Return True if a file says what it should."""
    # Not compared as bytes: another release of Babel writes another version into it.
    if not path.is_file():
        return False
    read = read_mo if path.suffix == ".mo" else read_po
    stored, renewed = read(BytesIO(path.read_bytes())), read(BytesIO(content))
    # A template has no date, and gets that of reading it.
    stored.creation_date = renewed.creation_date
    return renewed.is_identical(stored)


def _find_translation_fault(message: Message) -> str:
    """Say what is missing or doubtful in a translation; empty if nothing is."""
    if message.fuzzy:
        return f"to be looked at: {message.id!r}"
    if not all(_forms(message)):
        return f"not translated: {message.id!r}"
    text = message.id if isinstance(message.id, str) else message.id[1]
    for form in _forms(message):
        if sorted(HOLE.findall(form)) != sorted(HOLE.findall(text)):
            return f"holes differ: {form!r}, of {message.id!r}"
    return ""


def _forms(message: Message) -> list[str]:
    """Return the translation of a text, or of each of its forms for a number."""
    if isinstance(message.string, str):
        return [message.string]
    return list(message.string or [""])


def main() -> int:
    """Write everything, or only look; print what is wrong and return 1 if anything is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, only look")
    if not parser.parse_args().check:
        write_files()
    faults = find_faults()
    print("\n".join(faults) or "All texts are translated, and all files are up to date.")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
