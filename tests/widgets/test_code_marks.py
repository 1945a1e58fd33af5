# ruff: noqa: RUF001  # sentences in Chinese
"""Names and code in sentences are in code type: in the player, in findings of a watch, in a reveal."""

import html
import re
import warnings
from types import ModuleType

import pytest
from copylab import predict, steps, watch
from copylab.code_marks import CodeWords
from copylab.doc import inline_html
from copylab.questions import gradient, outcome
from copylab.wording import set_language

SILENT = """
a = torch.tensor([1.0, 2.0], requires_grad=True)
out = a.sigmoid()
w1 = out.detach()
out.data.mul_(2)
out.sum().backward()
""".strip()
WORDS = CodeWords({"h *= 2", "y = h ** 2 * a ** 2"}, {"a", "h", "out", "loss", "net.weight"})


@pytest.mark.parametrize(
    ("sentence", "marked"),
    [
        ("a is a new tensor over the memory of h.", "`a` is a new tensor over the memory of `h`."),
        ("The values of out, h and a changed.", "The values of `out`, `h` and `a` changed."),
        ("loss requires no grad.", "`loss` requires no grad."),
        ("A loss is a sum. Way out: detach().", "A loss is a sum. Way out: `detach()`."),
        (
            "Nothing points out a leaf, e.g. of h-like.",
            "Nothing points out a leaf, e.g. of h-like.",
        ),
        ("net.weight was changed, h's too.", "`net.weight` was changed, h's too."),
        ("made by In[103], line 5, not [4, 5].", "made by In[103], line 5, not `[4, 5]`."),
        ("no write through .data, or .detach().", "no write through `.data`, or `.detach()`."),
        (
            "on line 2, y = h ** 2 * a ** 2. h has it.",
            "on line 2, `y = h ** 2 * a ** 2`. `h` has it.",
        ),
    ],
)
def test_names_are_told_from_words(sentence: str, marked: str) -> None:
    assert WORDS.quote_code(sentence) == marked
    plain = re.sub("<.*?>", "", inline_html(WORDS.mark_code(sentence)))
    assert html.unescape(plain) == sentence, "with its own stars"


def test_in_another_language_latin_letters_are_code() -> None:
    for language, sentence, marked in (
        (
            "zh",
            "out 的值变了，察觉不到通过 .data 的写入。",
            "`out` 的值变了，察觉不到通过 `.data` 的写入。",
        ),
        ("ko", "a의 값을 .detach()를 통해", "`a`의 값을 `.detach()`를 통해"),
    ):
        set_language(language)
        assert WORDS.quote_code(sentence) == marked


@pytest.mark.parametrize("language", [None, "zh", "ko"])
def test_headlines_of_the_player(engine: ModuleType, language: str | None) -> None:
    set_language(language)
    made = steps(SILENT, engine=engine)
    leads = re.findall(r'<li class="cl-lead">(.*?)</li>', made.html)
    assert len(leads) == len(made)
    for name, lead in zip(("a", "out", "w1", "out", "a"), leads, strict=True):
        assert f"<code>{name}" in lead, lead
    assert not re.search("<code>[^<]*<code>|&amp;lt;|`", "".join(leads))
    assert "`" not in made.text


@pytest.mark.parametrize("language", [None, "zh", "ko"])
def test_findings_of_a_watch(engine: ModuleType, language: str | None) -> None:
    set_language(language)
    a = engine.tensor([1.0, 2.0], requires_grad=True)
    with warnings.catch_warnings(action="ignore"), watch() as seen:
        out = a.sigmoid()
        out.data.mul_(2)
        out.sum().backward()
    (finding,) = seen.findings
    shown = finding.html.partition("<pre")[0]
    assert "<code>out</code>" in shown, "in the title"
    assert "<code>a</code>" in shown, "whose gradient is wrong"
    for code in ("backward", ".data"):
        assert f"<code>{code}</code>" in finding.html
    assert "<code>" not in finding.text
    assert "`" not in finding.text


def test_the_reveal_of_a_wrong_gradient(engine: ModuleType) -> None:
    asked = predict(SILENT, [outcome(), gradient("a")], engine=engine)
    html = asked.commit(["line 5 raises an error", "None"]).html
    for code in ("SigmoidBackward0", "out", "out = a.sigmoid()", "out.data.mul_(2)"):
        assert f"<code>{code}</code>" in html
    assert "saved its result (<code>out</code>)" in html
    assert not re.search("<code>[^<]*<code>", html)
