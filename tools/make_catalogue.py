"""Read the texts for people out of the code, and hold the template of the catalogue to them.

    python tools/make_catalogue.py             writes template, languages and what is read at run time anew
    python tools/make_catalogue.py --check     says what is wrong or not translated, and ends with 1 if anything is

The template is tinytorch/locale/copylab.pot. A translator copies it to LANGUAGE/LC_MESSAGES/copylab.po beside it; from
then on this brings that file up to date, and makes of it copylab.mo, which is read at run time. A text that has changed
is marked `fuzzy` and keeps its old translation, a new one is empty, one that is gone is gone.
"""

from __future__ import annotations

import ast
import re
import string
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po, write_po
from project_files import ROOT

TEMPLATE = ROOT / "tinytorch" / "locale" / "copylab.pot"
FOLDERS = ("tinytorch", "widgets/copylab")
OURS = (
    "tinytorch/viz/wording/catalogue.py",
    "widgets/copylab/ui/web/say.js",
)  # where the functions themselves stand
TEXTS = {"gettext": 1, "gettext_noop": 1, "_": 1, "ngettext": 2}
"""The functions that are given texts, and how many; `_` is what a long table calls gettext_noop."""
LESSONS = "widgets/copylab/lessons/"
DATA: dict[str, tuple[int | str, ...]] = {
    "": ("title", "prompt", "because", "hint", "wrong"),  # what any call may have
    "predict": ("title",),
    **dict.fromkeys(
        ("exercise", "task"), (1, "task", "title", "hints", "right")
    ),  # its `wrong` is for those who test it
    "Misconception": (0, 1, 2, "name", "says", "refutation"),
    "Question": (0, 1, 3, 4, "prompt", "choices", "wrong", "because", "hint"),
}
"""The arguments of a lesson's data that hold texts: literals, which are translated when they are said."""
TABLE = ("widgets/copylab/quiz/misconceptions.py", "_BELIEFS_AND_REFUTATIONS")
"""A table of nothing but texts, as plain as a lesson's."""
SAYS = {"CheckedFact": (1, 2), "but": (0,), "wrong": (0,)}
"""What checks say, which is put together when they run: there a text goes through gettext."""
HOLE = re.compile(r"\{\w+(?:![rs])?(?::[^{}]*)?\}")
Text = str | tuple[str, str]
"""A text, or the forms for one and for many."""


class Found:
    """The strings of the code: the texts with the files that say them, and in `faults` what nobody could translate."""

    def __init__(self, root: Path = ROOT) -> None:
        self.texts: dict[Text, set[str]] = {}
        self.faults: list[str] = []
        for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in (".py", ".js") and name not in OURS:
                said = (
                    _python(path, name, self.faults)
                    if path.suffix == ".py"
                    else _script(path, name, self.faults)
                )
                for text in said:
                    self.texts.setdefault(text, set()).add(name)


def _python(path: Path, name: str, faults: list[str]) -> Iterator[Text]:
    for call in ast.walk(ast.parse(path.read_text("utf-8"))):
        if name.startswith(LESSONS):
            yield from _data(call, name, faults)
        if isinstance(call, ast.Assign) and (name, getattr(call.targets[0], "id", "")) == TABLE:
            yield from (
                str(one.value) for one in ast.walk(call.value) if isinstance(one, ast.Constant)
            )
        function = call.func if isinstance(call, ast.Call) else None
        asked = getattr(function, "attr", getattr(function, "id", ""))
        if not isinstance(call, ast.Call) or asked not in TEXTS:
            continue
        texts = call.args[: TEXTS[asked]]
        literal = [
            one.value
            for one in texts
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
        ]
        if len(literal) == TEXTS[asked]:
            yield literal[0] if len(literal) == 1 else (literal[0], literal[1])
            given = {one.arg for one in call.keywords}
            if (
                asked not in ("gettext_noop", "_")
                and None not in given
                and (wrong := _holes(literal, given))
            ):
                faults.append(f"{name}:{call.lineno}: {wrong}")
        elif asked != "gettext" or not isinstance(
            texts[0], ast.Name | ast.Attribute | ast.Subscript
        ):
            # A name may stand for what a table marks with gettext_noop; what is put together is in no catalogue.
            faults.append(f"{name}:{call.lineno}: {asked}() is to be given a text in quotes")


def _data(call: ast.AST, name: str, faults: list[str]) -> Iterator[str]:
    """The texts among the arguments of a call in a lesson's data."""
    if not isinstance(call, ast.Call):
        return
    function = getattr(call.func, "attr", getattr(call.func, "id", ""))
    given: dict[int | str | None, ast.expr] = {
        **dict(enumerate(call.args)),
        **{k.arg: k.value for k in call.keywords},
    }
    wanted = DATA.get(function, DATA[""])
    for argument in (one for one in given if one in wanted):
        for one in _each(given[argument]):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                yield one.value
            elif isinstance(one, ast.JoinedStr | ast.BinOp):
                faults.append(
                    f"{name}:{one.lineno}: {argument} is to be a text in quotes, or a function that says it"
                )
    said = [given[place] for place in SAYS.get(function, ()) if place in given]
    faults += [
        f"{name}:{one.lineno}: {function}() is to be given what gettext says"
        for one in said
        if isinstance(one, ast.JoinedStr) or (isinstance(one, ast.Constant) and one.value)
    ]


def _each(data: ast.expr) -> list[ast.expr]:
    """An argument, or each in a list, or each value of a dict."""
    if isinstance(data, ast.Dict):
        return data.values
    return data.elts if isinstance(data, ast.List | ast.Tuple) else [data]


def _holes(texts: list[str], given: set[str | None]) -> str:
    """Faults between the holes of texts and the values for them."""
    holes = {
        hole
        for text in texts
        for _, hole, _, _ in string.Formatter().parse(text)
        if hole is not None
    }
    if len(texts) == 2:
        holes -= {"number"}
    if not given:
        holes = {
            hole for hole in holes if hole.isidentifier()
        }  # else a text about braces, which is left as it is
    return (
        f"{texts[0]!r} has {sorted(holes)} and is given {sorted(map(str, given))}"
        if holes != given
        else ""
    )


def _script(path: Path, name: str, faults: list[str]) -> Iterator[Text]:
    code = path.read_text("utf-8")
    for at, line in enumerate(code.splitlines(), 1):
        if re.search(r"\bsay\((?!\"|$)", line):
            faults.append(f"{name}:{at}: say() is to be given a text in double quotes")
    with path.open("rb") as file:
        options = {"encoding": "utf-8", "parse_template_string": True}
        for _, text, _, _ in extract("javascript", file, {"say": None}, options=options):
            assert isinstance(text, str)
            yield text


def written(template: Path = TEMPLATE) -> dict[Text, set[str]]:
    """Return the texts of a template, with the files that say them."""
    with template.open("rb") as file:
        messages = [message for message in read_po(file) if message.id]
    return {_text(message.id): {place for place, _ in message.locations} for message in messages}


def _text(said: str | Sequence[str]) -> Text:
    return said if isinstance(said, str) else (said[0], said[1])


def wrong(root: Path = ROOT, template: Path = TEMPLATE) -> list[str]:
    """Return what is wrong in code, template and languages, a line for each."""
    found = Found(root)
    if not template.exists():
        return [
            *found.faults,
            f"{template.name} is not there: write it with tools/make_catalogue.py",
        ]
    stored = written(template)
    lines = [
        f"{min(found.texts[text])}: not in {template.name}: {text!r}"
        for text in found.texts.keys() - stored
    ]
    lines += [
        f"{template.name}: no longer in the code: {text!r}" for text in stored.keys() - found.texts
    ]
    lines += [
        f"{template.name}: {text!r} stands in {', '.join(sorted(places))}"
        for text, places in found.texts.items()
        if places != stored.get(text, places)
    ]
    again = ["Write it anew with tools/make_catalogue.py"] if lines else []
    return [
        *found.faults,
        *sorted(lines),
        *again,
        *(line for one in languages(template) for line in untranslated(one)),
    ]


def write(root: Path = ROOT, template: Path = TEMPLATE) -> None:
    """Write the template."""
    made = Catalog(
        project="copylab", version="", copyright_holder="the copylab authors", charset="utf-8"
    )
    for text, places in Found(root).texts.items():
        made.add(text, locations=[(place, 0) for place in sorted(places)])
    template.parent.mkdir(parents=True, exist_ok=True)
    with template.open("wb") as file:
        write_po(file, made, width=0, sort_by_file=True, include_lineno=False, omit_header=True)


def languages(template: Path = TEMPLATE) -> list[Path]:
    """Return the files of the translators, one for each language."""
    return sorted(template.parent.glob("*/LC_MESSAGES/copylab.po"))


def _read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parts[-3])


def renew(path: Path) -> None:
    """Bring the file of a language up to date with the template, and make of it what is read at run time."""
    made = _read(path)
    with (path.parents[2] / TEMPLATE.name).open("rb") as file:
        made.update(read_po(file), update_creation_date=False)
    made.obsolete.clear()
    with path.open("wb") as file:
        write_po(file, made, width=0, sort_by_file=True, include_lineno=False)
    with path.with_suffix(".mo").open("wb") as file:
        write_mo(file, made)


def untranslated(path: Path) -> list[str]:
    """Return what is missing, not sure, gone or out of date in a language, a line for each."""
    there = {_text(message.id): message for message in _read(path) if message.id}
    stored = written(path.parents[2] / TEMPLATE.name)
    lines = [f"not there: {text!r}" for text in stored.keys() - there]
    lines += [f"no longer in the code: {text!r}" for text in there.keys() - stored]
    for text, message in there.items():
        told = _told(message)
        if message.fuzzy or not all(told):
            lines.append(f"{'to be looked at' if message.fuzzy else 'not translated'}: {text!r}")
        else:
            wants = HOLE.findall(text if isinstance(text, str) else text[1])
            lines += [
                f"holes differ: {one!r}, of {text!r}"
                for one in told
                if sorted(HOLE.findall(one)) != sorted(wants)
            ]
    compiled = path.with_suffix(".mo")
    if not lines and (
        not compiled.exists() or _said(compiled) != {text: _told(there[text]) for text in there}
    ):
        lines.append(f"{compiled.name} is not made of {path.name}: run tools/make_catalogue.py")
    return [f"{path.parts[-3]}: {line}" for line in sorted(lines)]


def _said(compiled: Path) -> dict[Text, list[str]]:
    with compiled.open("rb") as file:
        return {_text(message.id): _told(message) for message in read_mo(file) if message.id}


def _told(message: Message) -> list[str]:
    return [message.string] if isinstance(message.string, str) else list(message.string or ())


if __name__ == "__main__":
    if "--check" not in sys.argv:
        write()
        for path in languages():
            renew(path)
    found = wrong()
    print(
        "\n".join(found)
        or f"{len(written()):,} texts, in {len(languages())} languages beside English"
    )
    sys.exit(bool(found))
