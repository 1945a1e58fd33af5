"""The tree of parts: its two forms say the same, escape what they are given, and may be put into Markdown."""

import re
from html.parser import HTMLParser

import pytest
from copylab.doc import (
    Alarm,
    Box,
    Cell,
    Code,
    Figure,
    Fold,
    InPage,
    InText,
    Items,
    Paragraph,
    Part,
    Table,
    html_element,
    inline_html,
    protect_marks,
    split_paragraphs,
)

from tinytorch.viz.render.picture import Picture as Drawn

NASTY = "a <b> & \"c\"\n\n  \n`d` **e** 'f'"


def drawn(text: str = "one cell\n\ntwo cells") -> Drawn:
    return Drawn(lambda: "<svg></svg>", lambda: text)


EVERY: list[Part] = [
    Paragraph(NASTY),
    Code(NASTY),
    Items([NASTY, Code(NASTY)]),
    Fold(NASTY, Code(NASTY), open=True),
    Alarm(NASTY, Paragraph(NASTY)),
    Table([NASTY, "b"], [[NASTY, NASTY], ["x", Cell(NASTY, part=Code(NASTY))]], caption=NASTY),
    Figure(drawn(), NASTY),
    Figure(drawn(NASTY), NASTY),
    split_paragraphs(f"{NASTY}\n\n```\n{NASTY}\n```\n"),
    Box(Paragraph(NASTY), class_=NASTY, data_text=NASTY),
]


class Words(HTMLParser):
    """What a page says to those who read it, and its tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.said, self.opened, self.tags = "", list[str](), list[str]()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)
        if tag not in ("br", "img", "input"):
            self.opened.append(tag)
        self.said += " ".join(str(value) for name, value in attrs if name in ("alt", "value"))

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said += f" {data}"


@pytest.mark.parametrize("part", EVERY, ids=lambda part: type(part).__name__)
def test_html_stands_in_markdown_and_is_escaped(part: Part) -> None:
    html = part.html()
    assert not re.search(r"\n[ \t]*(\n|$)", html), (
        "Markdown takes a blank line for the end of the HTML"
    )
    assert not re.search(r'<[^>]*\s[\w-]+="[^"]*\n', html), "an attribute with a line break"
    read = Words(html)
    assert read.opened == []
    assert "b" not in read.tags


@pytest.mark.parametrize("part", EVERY, ids=lambda part: type(part).__name__)
def test_both_forms_say_the_same(part: Part) -> None:
    words = set(re.findall(r"\w+", part.text()))
    assert words
    assert words <= set(re.findall(r"\w+", Words(part.html()).said))


@pytest.mark.parametrize("part", EVERY, ids=lambda part: type(part).__name__)
def test_rendering_a_part_changes_nothing(part: Part) -> None:
    assert [part.html(), part.text()] == [part.html(), part.text()]


def test_a_broken_page_is_noticed() -> None:
    assert Words("<p>a<b>c</b>").opened == ["p"]
    with pytest.raises(AssertionError):
        Words("<p>a</div>")


def test_the_text_of_a_table() -> None:
    rows = [["clone", "no"], ["detach()", "yes"]]
    assert (
        Table(["way", "shares"], rows).text()
        == "  way       shares\n  clone     no\n  detach()  yes"
    )
    chinese = Table(["", ""], [["内存", "是"], ["dtype", "否"]]).text()
    assert chinese == "  内存   是\n  dtype  否", "a Chinese character takes two columns"
    told = Table(["way", "shares"], rows, layout="rows").text()
    assert told == "clone\n  shares: no\n\ndetach()\n  shares: yes"
    wide = Table(["way", "a", "b", "c"], [["=", "1", "2", "3"]], layout="rows", breaks=[2])
    assert wide.text() == "=\n  a: 1\n  b: 2; c: 3"


def test_a_column_can_be_hidden_in_the_page() -> None:
    made = Table(["way", Cell("shares", hidden=True)], [["=", Cell("yes", hidden=True)]])
    assert made.text() == "  way  shares\n  =    yes"
    assert '<th scope="col" hidden>shares</th>' in made.html()
    assert "<td hidden>yes</td>" in made.html()


def test_what_is_exact_has_no_marks() -> None:
    said = Paragraph(
        f"**It is** `{protect_marks('x**2 + y**3')}`: {protect_marks('`a` **b** <c>')}"
    )
    assert said.text() == "It is `x**2 + y**3`: `a` **b** <c>"
    assert (
        said.html() == "<p><strong>It is</strong> <code>x**2 + y**3</code>: `a` **b** &lt;c&gt;</p>"
    )


def test_text_is_put_together() -> None:
    box = Box(
        Paragraph("**a**"), InText(Paragraph("b")), InPage("<hr>"), Fold("c", Code("d\n\ne")), None
    )
    assert box.text() == "a\nb\nc:\n    d\n\n    e"
    assert (
        box.html()
        == "<div><p><strong>a</strong></p><hr><details><summary>c</summary><pre>d&#10;\ne</pre></details></div>"
    )
    assert Box(Paragraph("a"), Paragraph("b"), spaced=True).text() == "a\n\nb"


def test_attributes() -> None:
    assert (
        html_element("p", class_="a", data_key=0, hidden=True, open=False, id=None)
        == '<p class="a" data-key="0" hidden></p>'
    )


def test_the_numbers_of_a_short_list_are_on_one_line() -> None:
    """`[2., 4.]` was broken behind the comma, and read as two."""
    for code in ("[2., 4.]", "[[1, 2], [3, 4]]", "[-1, 2e-05]"):
        assert inline_html(f"It is `{code}`.") == f'It is <code class="cl-one">{code}</code>.'
    # A long one may be broken, and what has no blank is not.
    for code in ("[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]", "[1]", "[]", "x[0, 1]", "f(1, 2)"):
        assert inline_html(f"`{code}`") == f"<code>{code}</code>"
