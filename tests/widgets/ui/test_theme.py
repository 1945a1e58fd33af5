"""What a page is given: scripts with the words of the chosen language, and nothing at which Markdown ends HTML."""

import json
from pathlib import Path

import pytest
from copylab.ui import theme
from copylab.ui.theme import read_web_files
from project_files import ROOT
from pygments.lexers import JavascriptLexer
from pygments.token import String

SCRIPTS = sorted((ROOT / "widgets" / "copylab").glob("*/web/*.js"))
SAYS = 'button.textContent = say("Step {number} of \\"it\\"", { number });\n'


@pytest.fixture
def german(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {'Step {number} of "it"': "Schritt {number} </script> ü", "Never asked for": "Nie"}
    monkeypatch.setattr(theme, "list_translations", lambda: words)


def given(script: str) -> dict[str, str]:
    """The words that a script is given."""
    begin = "const FROM_PYTHON = "
    assert script.startswith(begin + "{")
    words: dict[str, str] = json.JSONDecoder().raw_decode(script, len(begin))[0]["words"]
    return words


def as_script(monkeypatch: pytest.MonkeyPatch, text: str) -> str:
    real = theme._read_web_file
    monkeypatch.setattr(
        theme, "_read_web_file", lambda name: text if name == "ui/asks.js" else real(name)
    )
    return read_web_files("ui/asks.js")


def test_in_english_a_script_is_given_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    made = as_script(monkeypatch, SAYS)
    assert given(made) == {}
    assert made.count("const say = ") == 1
    assert made.endswith(SAYS)


@pytest.mark.usefixtures("german")
def test_a_script_is_given_the_words_that_it_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made = as_script(monkeypatch, SAYS)
    assert given(made) == {'Step {number} of "it"': "Schritt {number} </script> ü"}
    assert "<" not in made.partition("\n")[0]


def test_what_says_nothing_is_given_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert as_script(monkeypatch, "const a = 1;\n") == "const a = 1;\n"
    assert "FROM_PYTHON" not in read_web_files("ui/exhibit.css")


def test_scripts_of_one_page_share_the_declaration() -> None:
    script = read_web_files("player/stops.js", "player/player.js", "ui/live.js")
    assert script.count("const FROM_PYTHON") == script.count("const say = ") == 1


def test_comments_and_exports_of_a_script_are_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "/**\n * Two * lines.\n */\nexport function f() {}\n  // one\nexport default f;\n"
    (tmp_path / "copylab" / "web").mkdir(parents=True)
    (tmp_path / "copylab" / "web" / "a.js").write_text(source)
    monkeypatch.setattr(theme, "files", lambda _: tmp_path)
    assert theme._read_web_file.__wrapped__("copylab/a.js") == "function f() {}\nexport default f;"


def template_literals(script: str) -> str:
    """Return the text of all template literals of a script, joined."""
    return "".join(
        text for kind, text in JavascriptLexer().get_tokens(script) if kind in String.Backtick
    )


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_line_is_blank_and_no_text_loses_one(path: Path) -> None:
    made = read_web_files(f"{path.parent.parent.name}/{path.name}")
    assert all(map(str.strip, made.splitlines()))
    assert template_literals(path.read_text("utf-8")) == template_literals(made)


def test_a_text_that_loses_a_line_is_noticed() -> None:
    assert template_literals("a = `b\n\n  ${c} d`;") == "`b\n\n   d`"
    assert template_literals("a = `b\n${c} d`;") != template_literals("a = `b\n\n  ${c} d`;")


def test_lines_are_joined_where_that_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "const a = [\n  1, // first,\n  2,\n];\nconst b = () => {\n  return `x;\n  ${a}`;\n};\nlet c = a\n++c\n"
    (tmp_path / "copylab" / "web").mkdir(parents=True)
    (tmp_path / "copylab" / "web" / "a.js").write_text(source)
    monkeypatch.setattr(theme, "files", lambda _: tmp_path)
    joined = "const a = [1, // first,\n2,];const b = () => {return `x;\n${a}`;\n};let c = a\n++c\n"
    assert theme._read_web_file.__wrapped__("copylab/a.js") == joined
    # A rule is whole at its brace; a space that counts stays.
    (tmp_path / "copylab" / "web" / "a.css").write_text(
        "a,\nb {\n  c: d;\n}\n/* e */\nf { g: h; }\ni\nj :k {}\n"
    )
    assert theme._read_web_file.__wrapped__("copylab/a.css") == "a,b{c:d;}f{g:h;}i\nj :k{}"
