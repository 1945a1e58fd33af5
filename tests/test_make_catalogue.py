"""Texts for people are found in the code; what nobody could translate is noticed, and so is an old template."""

import gettext as standard
from pathlib import Path
from typing import Any

import copylab
import pytest
from make_catalogue import Found, renew, write, written, wrong

import tinytorch
from tinytorch.viz.wording import catalogue

CODE = """
gettext("Run " "{name}", name=name)
f"{gettext('in a text')}"
ngettext("{number} step of {all}", "{number} steps of {all}", 3, all=3)
TITLES = {"memory": gettext_noop("Memory")}
gettext(TITLES["memory"])
gettext("a pair {1, 2}")
"""
SCRIPT = 'show(say("Step {number}", { number }), `${say("inside")}`);\nconst essay = (x) => x;\n'
TEXTS = {
    "Run {name}",
    "in a text",
    ("{number} step of {all}", "{number} steps of {all}"),
    "Memory",
    "a pair {1, 2}",
    "Step {number}",
    "inside",
}


def project(root: Path, code: str = CODE, script: str = SCRIPT) -> Path:
    for name, text in {
        "tinytorch/viz/a.py": code,
        "widgets/copylab/player/web/a.js": script,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_all_texts_are_found(tmp_path: Path) -> None:
    found = Found(project(tmp_path))
    assert found.faults == []
    assert set(found.texts) == TEXTS
    assert found.texts["inside"] == {"widgets/copylab/player/web/a.js"}


LESSON = """
predict(CODE, [value("x", prompt="What now?", wrong={"1": "No.", "2": BELIEF})], title="One")
Question("Which?", ("left", "right"), answer, {"left": "Not left."}, because="So it is.")
exercise("a/b", "Do " "it.", check=check, hints=["One", "Think."], wrong={"x = 1": "x shows 1"}, right="well.")
BELIEF = Misconception("x is y", "They are one.", lambda run: gettext("{n} of them", n=2))
def check(x):
    yield CheckedFact(x, gettext("x is {x}.", x=x))
"""
SAID = (
    "What now?|No.|One|Which?|left|right|Not left.|So it is.|Do it.|Think.|well.|x is y|They are one.|"
    "{n} of them|x is {x}."
)


def lesson(root: Path, code: str) -> Found:
    path = root / "widgets" / "copylab" / "lessons" / "one.py"
    path.parent.mkdir(parents=True)
    path.write_text(code, encoding="utf-8")
    return Found(root)


def test_the_data_of_a_lesson_holds_texts(tmp_path: Path) -> None:
    found = lesson(tmp_path, LESSON)
    assert found.faults == []
    assert set(found.texts) == set(SAID.split("|"))


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ('exercise("a", f"Do {it}")', "1 is to be a text in quotes, or a function that says it"),
        (
            'value("x", wrong={"1": "a" + b})',
            "wrong is to be a text in quotes, or a function that says it",
        ),
        ('CheckedFact(x, "x is 1")', "CheckedFact() is to be given what gettext says"),
        ('fact.but(f"x is {x}")', "but() is to be given what gettext says"),
    ],
)
def test_what_a_lesson_says_in_no_catalogue_is_noticed(
    tmp_path: Path, code: str, fault: str
) -> None:
    assert lesson(tmp_path, code).faults == [f"widgets/copylab/lessons/one.py:1: {fault}"]


def test_a_template_holds_what_the_code_says(tmp_path: Path) -> None:
    root, template = project(tmp_path), tmp_path / "tinytorch" / "locale" / "copylab.pot"
    assert "is not there" in wrong(root, template)[0]
    write(root, template)
    assert wrong(root, template) == []
    assert written(template) == Found(root).texts
    project(tmp_path, CODE.replace("Memory", "Storage"), SCRIPT)
    (tmp_path / "tinytorch/viz/b.py").write_text('gettext("inside")')
    assert wrong(root, template)[:3] == [
        "copylab.pot: 'inside' stands in tinytorch/viz/b.py, widgets/copylab/player/web/a.js",
        "copylab.pot: no longer in the code: 'Memory'",
        "tinytorch/viz/a.py: not in copylab.pot: 'Storage'",
    ]


PO = """
msgid "Memory"
msgstr "Speicher"

msgid "Step {number}"
msgstr "Schritt {nummer}"

msgid "Run {what}"
msgstr "Führe {what} aus"

msgid "{number} step of {all}"
msgid_plural "{number} steps of {all}"
msgstr[0] "{number} Schritt von {all}"
msgstr[1] "{number} Schritte von {all}"
"""


def test_what_is_not_translated_is_noticed(tmp_path: Path) -> None:
    root, template = project(tmp_path), tmp_path / "tinytorch" / "locale" / "copylab.pot"
    write(root, template)
    path = template.parent / "de" / "LC_MESSAGES" / "copylab.po"
    path.parent.mkdir(parents=True)
    path.write_text(PO, encoding="utf-8")
    assert "de: no longer in the code: 'Run {what}'" in wrong(root, template)
    assert "de: not there: 'inside'" in wrong(root, template)
    renew(path)
    assert wrong(root, template) == [
        "de: holes differ: 'Schritt {nummer}', of 'Step {number}'",
        "de: not translated: 'a pair {1, 2}'",
        "de: not translated: 'in a text'",
        "de: not translated: 'inside'",
        "de: to be looked at: 'Run {name}'",
    ]
    text = (
        path.read_text("utf-8")
        .replace("{nummer}", "{number}")
        .replace("{what}", "{name}")
        .replace("#, fuzzy, ", "#, ")
    )
    path.write_text(
        text.replace('msgstr ""\n\n', 'msgstr "so"\n\n').rstrip().removesuffix('""') + '"so"\n',
        "utf-8",
    )
    assert wrong(root, template) == [
        "de: copylab.mo is not made of copylab.po: run tools/make_catalogue.py"
    ]
    renew(path)
    assert wrong(root, template) == []


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ('gettext(f"Run {name}")', "gettext() is to be given a text in quotes"),
        ('gettext("Run {}".format(name))', "gettext() is to be given a text in quotes"),
        ('gettext("one" if n else "other")', "gettext() is to be given a text in quotes"),
        ('ngettext("one", many, n)', "ngettext() is to be given a text in quotes"),
        ("gettext_noop(title)", "gettext_noop() is to be given a text in quotes"),
        ('gettext("Run {name}", title=1)', "'Run {name}' has ['name'] and is given ['title']"),
        ('gettext("Run {name}")', "'Run {name}' has ['name'] and is given []"),
    ],
)
def test_what_nobody_could_translate_is_noticed(tmp_path: Path, code: str, fault: str) -> None:
    assert Found(project(tmp_path, code)).faults == [f"tinytorch/viz/a.py:1: {fault}"]


@pytest.mark.parametrize("script", ["say(title)", "say(`Step`)", "x = say('Step')"])
def test_so_it_is_in_a_script(tmp_path: Path, script: str) -> None:
    fault = "widgets/copylab/player/web/a.js:1: say() is to be given a text in double quotes"
    assert Found(project(tmp_path, CODE, script)).faults == [fault]


class Asked(standard.NullTranslations):
    """A catalogue of nothing that notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: set[str | tuple[str, str]] = set()

    def gettext(self, message: str) -> str:
        self.texts.add(message)
        return message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        self.texts.add((msgid1, msgid2))
        return super().ngettext(msgid1, msgid2, n)


def test_what_tables_hold_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that is asked for under a name, and marked nowhere, is in no catalogue."""
    asked = Asked()
    monkeypatch.setattr(catalogue, "_chosen", [asked])
    code = "x = torch.ones(2, requires_grad=True)\ny = x.clone()\ny.sum().backward()"
    race = copylab.race(["clone", "detach"], [1, 2], engine=tinytorch, rounds=8).run()
    lab = copylab.CopyLab(method="detach", engine=tinytorch)
    for act in (lab.loss, lab.write, lab.backward, lab.help):
        act()
    shown: list[Any] = [
        lab,
        race,
        copylab.compare("clone", engine=tinytorch),
        copylab.steps(code, engine=tinytorch),
    ]
    shown += [copylab.predict(code, engine=tinytorch)]
    for one in shown:
        assert one.text
        assert one.html
    assert race.report
    assert "Loss from x" in asked.texts
    assert asked.texts - Found().texts.keys() == set()
