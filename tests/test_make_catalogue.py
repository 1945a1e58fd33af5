"""Texts for people are found in the code; what nobody could translate is noticed, and so is an old catalogue."""

import gettext as standard
import importlib
from pathlib import Path
from typing import Any

import copylab
import pytest
from make_catalogue import DOMAINS, Domain, DomainTexts, find_faults, write_files

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
}
SCRIPT_TEXTS = {"Step {number}", "inside"}
ENGINE, WIDGETS = DOMAINS


def project(root: Path, code: str = CODE, script: str = SCRIPT) -> Path:
    for name, text in {
        "tinytorch/viz/a.py": code,
        "widgets/copylab/player/web/a.js": script,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_all_texts_are_found(tmp_path: Path) -> None:
    root = project(tmp_path)
    engine, widgets = DomainTexts(ENGINE, root), DomainTexts(WIDGETS, root)
    assert engine.faults + widgets.faults == []
    assert engine.texts() == TEXTS
    assert widgets.texts() == SCRIPT_TEXTS
    message = widgets.template.get("inside")
    assert message
    assert message.locations == [("widgets/copylab/player/web/a.js", 0)]


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


def lesson(root: Path, code: str) -> DomainTexts:
    path = root / "widgets" / "copylab" / "lessons" / "one.py"
    path.parent.mkdir(parents=True)
    path.write_text(code, encoding="utf-8")
    return DomainTexts(WIDGETS, root)


def test_the_data_of_a_lesson_holds_texts(tmp_path: Path) -> None:
    found = lesson(tmp_path, LESSON)
    assert found.faults == []
    assert found.texts() == set(SAID.split("|"))


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ('exercise("a", f"Do {it}")', "1 is to be a text in quotes, or a function that says it"),
        (
            'value("x", wrong={"1": "a" + b})',
            "wrong is to be a text in quotes, or a function that says it",
        ),
        ('CheckedFact(x, "x is 1")', "CheckedFact() is to be given what gettext says"),
        ('fact.with_objection(f"x is {x}")', "with_objection() is to be given what gettext says"),
    ],
)
def test_what_a_lesson_says_in_no_catalogue_is_noticed(
    tmp_path: Path, code: str, fault: str
) -> None:
    assert lesson(tmp_path, code).faults == [f"widgets/copylab/lessons/one.py:1: {fault}"]


def test_templates_have_what_the_code_says(tmp_path: Path) -> None:
    root = project(tmp_path)
    templates = ["tinytorch/locale/tinytorch.pot", "widgets/copylab/locale/copylab.pot"]
    out_of_date = [f"{name} is out of date: run tools/make_catalogue.py" for name in templates]
    assert find_faults(root) == out_of_date
    write_files(root)
    assert find_faults(root) == []
    project(tmp_path, CODE.replace("Memory", "Storage"), SCRIPT)
    assert find_faults(root) == out_of_date[:1]
    write_files(root)
    assert 'msgid "Storage"' in (root / templates[0]).read_text("utf-8")
    (root / "widgets/copylab/b.py").write_text('gettext("inside")')
    assert find_faults(root) == out_of_date[1:], "the text is the same, the places are others"


PO = """
msgid "Memory"
msgstr "Speicher"

msgid "in a text"
msgstr "in {einem} Text"

msgid "Run {what}"
msgstr "Führe {what} aus"

msgid "{number} step of {all}"
msgid_plural "{number} steps of {all}"
msgstr[0] "{number} Schritt von {all}"
msgstr[1] "{number} Schritte von {all}"
"""


def language_file(root: Path, domain: Domain, text: str) -> Path:
    path = root / domain.package / "locale" / "de" / "LC_MESSAGES" / f"{domain.name}.po"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_not_translated_is_noticed(tmp_path: Path) -> None:
    root = project(tmp_path)
    path = language_file(root, ENGINE, PO)
    faults = [
        "de: holes differ: 'in {einem} Text', of 'in a text'",
        "de: not translated: 'a pair {1, 2}'",
        "de: to be looked at: 'Run {name}'",
    ]
    name = path.relative_to(root).as_posix()
    assert {f"{name} is out of date: run tools/make_catalogue.py", *faults} < set(find_faults(root))
    write_files(root)
    assert sorted(find_faults(root)) == faults
    assert "Run {what}" not in path.read_text("utf-8")
    text = (
        path.read_text("utf-8")
        .replace("{einem}", "einem")
        .replace("{what}", "{name}")
        .replace("#, fuzzy, ", "#, ")
        .replace('pair {1, 2}"\nmsgstr ""', 'pair {1, 2}"\nmsgstr "so"')
    )
    path.write_text(text, "utf-8")
    compiled = name.removesuffix(".po") + ".mo"
    assert find_faults(root) == [f"{compiled} is out of date: run tools/make_catalogue.py"]
    write_files(root)
    assert find_faults(root) == []
    # Another release of Babel is no fault.
    path.write_text(path.read_text("utf-8").replace("Generated-By: Babel", "Generated-By: Babel 9"))
    assert find_faults(root) == []


def test_two_translations_of_one_text_are_noticed(tmp_path: Path) -> None:
    root = project(tmp_path, 'gettext("inside")', 'say("inside")')
    for domain, word in zip(DOMAINS, ("innen", "drinnen"), strict=True):
        language_file(root, domain, f'msgid "inside"\nmsgstr "{word}"\n')
    write_files(root)
    assert find_faults(root) == ["de: two translations of 'inside'"]
    language_file(root, WIDGETS, 'msgid "inside"\nmsgstr "innen"\n')
    write_files(root)
    assert find_faults(root) == []


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
    texts = DomainTexts(ENGINE, project(tmp_path, code))
    assert texts.faults == [f"tinytorch/viz/a.py:1: {fault}"]


@pytest.mark.parametrize("script", ["say(title)", "say(`Step`)", "x = say('Step')"])
def test_so_it_is_in_a_script(tmp_path: Path, script: str) -> None:
    fault = "widgets/copylab/player/web/a.js:1: say() is to be given a text in double quotes"
    assert DomainTexts(WIDGETS, project(tmp_path, CODE, script)).faults == [fault]


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
    # Before the catalogue is exchanged: at import it chooses the language, and all catalogues anew.
    importlib.import_module("copylab.course_folder")
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
    marked = DomainTexts(ENGINE).texts() | DomainTexts(WIDGETS).texts()
    assert asked.texts - marked == set()
