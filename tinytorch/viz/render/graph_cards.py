"""The cards of a graph picture: boxes as small as their words, with the names of tensors beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ..show import (
    FoldEntry,
    FreedEntry,
    GraphEdge,
    NamedTensor,
    NodeEntry,
    NumberEntry,
    Remark,
    RemarkKind,
)
from ..wording import (
    cut_middle,
    gettext,
    gettext_noop,
    join_facts,
    shorten_text,
    text_width,
    wrap_text,
)
from .style import Canvas

NAME_COLUMNS, TITLE_COLUMNS, REMARK_COLUMNS = 24, 36, 36
"""How long names, titles, and lines of remarks are in a card."""
EXPRESSION_COLUMNS = 28
"""How long what the program wrote for a tensor without a name is in a card: `y.detach().requires_grad_()` is whole."""
REMARK_LINES = 3
"""What takes more lines is cut."""
MOST_BESIDE = 3
"""So many names of tensors are beside the node that made them."""
BOX_HEIGHT, LINE_HEIGHT, PADDING, NAME_HEIGHT = 22, 16, 7, 15
"""Height of a box of one line, of a further line, room beside its words, height of a name, in px."""
ACCUMULATOR = "AccumulateGrad"
"""The kind of node that adds to the .grad of a leaf: drawn as "+="."""
DISC_SIZE = 24
"""Width and height of the sign of an accumulator."""
BELOW = 2
"""From a box down to the names below it, in px."""
ASIDE = 9
"""From the line that goes down from a box to the names and words below it, in px: on the line they seemed to be between two
nodes."""
BEFORE_TURN = 2
"""From the names below a box down to where the line from it may turn, in px: it touched them, as if they were on it."""
INTO_GAP = 1
"""So far names reach out of their area where lines go to the right, in px: areas are 8 px apart. A name that reached
farther was nearer to the box below it than it looks from its own, and was read as that one's."""
GAP = 4
"""Between a box and the names beside it, and between two names."""
SIGN_WIDTH = 16
"""The room of a sign before a line."""
MARK_HEIGHT, MARK_GAP = 16, 2
"""Of the mark of a cut: its height, and the room between it and the two halves of the line, in px."""
MEANING_OF_CUTS = {
    "cut": gettext_noop("the same memory, and no gradient goes from one to the other"),
    "was cut": gettext_noop("it was the same memory, and no gradient went from one to the other"),
    "copied": gettext_noop("only the numbers were read, and no gradient goes back"),
}
"""The tooltips of the mark of a cut, by the kind of an edge."""


def _measure_text(text: str, style: str) -> float:
    """Return the width of a short text in px, with the room that wide letters take.

    "AddmmBackward0" is 8 px wider in DejaVu Sans than an average of its letters, and left its box.
    """
    width = text_width(text, style)
    if "mono" in style:
        return width
    return width + 3 * sum(letter in "mwMW" for letter in text)


class RemarkLook(NamedTuple):
    """How a card shows the remarks of one kind."""

    sign: str = ""
    """One of `SIGNS` in style.py; empty for a line without."""
    is_tip: bool = False
    """True for what only the tooltip of the card says: nothing depends on it."""


_TIP = RemarkLook(is_tip=True)
REMARK_LOOKS: dict[RemarkKind, RemarkLook] = {
    "unchanged": _TIP,
    "live": _TIP,
    "number": _TIP,
    "packed": _TIP,
    "once": _TIP,
    "freed": _TIP,
    "unreadable": _TIP,
    "saved before": _TIP,
    "more saved": _TIP,
    "count": _TIP,
    "raises": RemarkLook("cross"),
    "changed unseen": RemarkLook("cross"),
    "maybe written": RemarkLook("warn"),
    "count maybe written": RemarkLook("warn"),
    "changed": RemarkLook("was"),
}
"""How a card shows a remark, by its kind; all others are lines without a sign."""


class CardLine(NamedTuple):
    """A line in a card."""

    text: str
    """As it is drawn, cut where it is too long."""
    style: str = ""
    """Classes of the stylesheet: monospaced, bold."""
    sign: str = ""
    """One of `SIGNS` in style.py; empty for a line without one."""

    @property
    def width(self) -> float:
        """The width in px, with its sign."""
        return _measure_text(self.text, self.style) + (SIGN_WIDTH if self.sign else 0)


class Beside(NamedTuple):
    """A part beside a box: the name of a tensor, or a word."""

    text: str
    """As it is drawn."""
    tensor_id: str = ""
    """The id of the tensor whose name it is, and whose hue it has; empty for a word."""
    whole: str = ""
    """The name before it was cut, with what changed in the tensor."""
    is_fresh: bool = False
    """True for a tensor that is new or has a new name, and for a word that says what changed."""

    @property
    def width(self) -> float:
        """The width in px."""
        if self.tensor_id:
            return text_width(self.text, "mono b") + 12
        return _measure_text(self.text, "b" if self.is_fresh else "")


class CardArea(NamedTuple):
    """The room of a card in the layout, in px."""

    left: float
    """From the left side to where lines arrive and leave, the middle of the box."""
    right: float
    """From there to the right side."""
    height: float
    """Of all of it; in the way across the lines, there is the same room on both sides."""


class CardSize(NamedTuple):
    """The size of a box and of what is beside it, in px."""

    width: float = 0
    """That of the box."""
    height: float = 0
    """That of the box."""
    beside_width: float = 0
    """That of what is beside it, with the gap; 0 without any."""
    beside_height: float = 0
    """That of what is beside it."""
    reach: float = 0
    """From the middle of the box to the end of what is right of it. In a run a box may be widest in one step
    and have most beside it in another: both together are more than is ever drawn."""
    names_width: float = 0
    """Of what is beside it, that of the part right of the line that goes down, with names "astride" of it."""
    word_width: float = 0
    """The same of the part left of the line: its last word, "new", where there are names before it."""

    def unite(self, other: CardSize) -> CardSize:
        """Return the size that has room for both."""
        return CardSize(*map(max, self, other))

    def intersect(self, other: CardSize) -> CardSize:
        """Return the size that fits into both."""
        return CardSize(*map(min, self, other))

    def measure_area(self, names: str, goes_right: bool) -> CardArea:
        """Return the area that it takes, with its names "below", "aside", "astride" or "right"."""
        half = self.width / 2
        if names == "right":
            height = max(self.height, self.beside_height)
            return CardArea(half, max(half, self.reach), height)
        # Names are below the box, so only a line from the side has its middle moved by them.
        around = self.find_room_below(names)
        if goes_right:
            # They may reach into the gap to the next area, which is wider.
            around = 2 * max(around - INTO_GAP, 0)
        left = right = self.beside_width / 2
        if names != "below":
            left, right = (ASIDE + width - GAP if width else 0 for width in self.find_halves(names))
        return CardArea(max(half, left), max(half, right), self.height + around)

    def find_room_below(self, names: str) -> float:
        """Return how much room the names take below the box, with that for a line to turn below them."""
        if names == "below" or not self.beside_height:
            return self.beside_height
        return self.beside_height + BEFORE_TURN

    def find_halves(self, names: str) -> tuple[float, float]:
        """Return how wide what is left and right of the line from a box is, with the gaps, with names "aside" or "astride"."""
        if names == "astride":
            return self.word_width, self.names_width
        return 0, self.beside_width

    def find_names(self, middle: tuple[float, float], names: str) -> tuple[float, float]:
        """Return the left upper corner of what is beside a box with that middle; y is downwards."""
        x, y = middle
        if names == "right":
            return x + self.width / 2 + GAP, y - NAME_HEIGHT / 2
        top = y + self.height / 2 + BELOW
        if names != "below":
            return x + ASIDE, top
        return x - (self.beside_width - GAP) / 2, top


@dataclass(frozen=True, slots=True)
class Card:
    """One box of the graph picture."""

    name: str
    """Its name in DOT: the id of a node, a fold or a tensor."""
    kind: str
    """ "node", "sum" for an accumulator, "fold", "leaf", "cut" for a tensor that is cut off, "mark" for the
    mark of a cut, "off" for what is not in this picture."""
    lines: tuple[CardLine, ...]
    """The first is its title."""
    whole: str = ""
    """The first line before it was cut, and what else its tooltip says."""
    state: str = ""
    """ "wrong" for a wrong gradient, "flows", "freed", or "new" for what the earlier snapshot did not
    have; "found" for what `find` names."""
    tensor_id: str = ""
    """Of a card that stands for a tensor."""
    beside: tuple[Beside, ...] = ()
    """The names of the tensors that a node made, and words."""

    @property
    def size(self) -> CardSize:
        """How large it is."""
        # Its sign is drawn alone, and is no line of words.
        if self.is_disc:
            width, height = DISC_SIZE, DISC_SIZE
        else:
            width = round(max(line.width for line in self.lines) + 2 * PADDING)
            height = BOX_HEIGHT + LINE_HEIGHT * (len(self.lines) - 1)
        if self.kind == "mark":
            width, height = width + 2 * MARK_GAP, MARK_HEIGHT + 2 * MARK_GAP
        if not self.beside:
            return CardSize(width, height)
        parts_width = sum(part.width for part in self.beside) + GAP * len(self.beside)
        beside_width = round(parts_width)
        reach = width / 2 + beside_width
        word_width = round(self.word.width + GAP) if self.word else 0
        names_width = beside_width - word_width
        return CardSize(
            width, height, beside_width, NAME_HEIGHT + BELOW, reach, names_width, word_width
        )

    @property
    def word(self) -> Beside | None:
        """The word behind its names; None without names or without such a word."""
        if not self.beside or self.beside[-1].tensor_id or not self.beside[0].tensor_id:
            return None
        return self.beside[-1]

    @property
    def is_disc(self) -> bool:
        """True if it is drawn as a circle with a sign."""
        # With something to say of it (a hook, a gradient that is refused) it is a box like the others.
        return self.kind == "sum" and len(self.lines) == 1

    @property
    def is_in_trouble(self) -> bool:
        """True if backward will raise here, or computes a wrong gradient."""
        return self.state == "wrong" or any(line.sign == "cross" for line in self.lines)


def make_node_card(node: NodeEntry) -> Card:
    """Make the card of a node."""
    is_sum = node.name == ACCUMULATOR
    title = "+=" if is_sum else shorten_text(node.name, TITLE_COLUMNS)
    lines = [CardLine(title, "b" if is_sum else "")]
    if node.has_wrong_gradient:
        lines.append(CardLine(gettext("its gradient is wrong"), "", "cross"))
    lines += _make_remark_lines(node.remarks)
    state = _state_of_entry(node, is_freed=node.is_freed)
    if node.has_wrong_gradient:
        state = "wrong"
    if state == "freed":
        # Grey and dashes alone looked as if something were wrong with the node. Not beside its names: no tensor is freed.
        lines[0] = lines[0]._replace(text=gettext("{node} (freed)", node=title))
    return Card(
        node.id,
        "sum" if is_sum else "node",
        tuple(lines),
        _join_tips(f"{node.id} {node.name}", node.remarks),
        state,
        beside=tuple(_list_beside(node)),
    )


def make_fold_card(fold: FoldEntry) -> Card:
    """Make the card of several nodes."""
    title = f"{fold.id} {fold.title}".rstrip()
    lines = [CardLine(cut_middle(title, TITLE_COLUMNS), "b"), *_make_remark_lines(fold.remarks)]
    words = _list_words(fold)
    whole = _join_tips(title, fold.remarks)
    state = _state_of_entry(fold, is_freed=False)
    return Card(fold.id, "fold", tuple(lines), whole, state, beside=tuple(words))


def make_leaf_card(leaf: NamedTensor, word: str = "") -> Card:
    """Make the card of a leaf; `word` is said below its name."""
    lines = [_make_name_line(leaf)]
    if word:
        lines.append(CardLine(word))
    if leaf.grad:
        lines.append(CardLine(leaf.grad, "b" if leaf.has_new_grad else ""))
    lines += [
        CardLine(shorten_text(caption, REMARK_COLUMNS), "b", "was")
        for caption in leaf.change_captions
    ]
    state, words = "", list[Beside]()
    if leaf.is_new or leaf.has_new_grad or leaf.change_captions:
        state = "new"
    if leaf.is_new:
        words.append(Beside(gettext("new"), is_fresh=True))
    whole = leaf.expression or leaf.label
    return Card(leaf.id, "leaf", tuple(lines), whole, state, leaf.id, tuple(words))


def _make_name_line(tensor: NamedTensor) -> CardLine:
    """Make the first line of a tensor's card: its name, or what the program wrote for it."""
    if tensor.expression:
        # Its beginning tells more than its end.
        return CardLine(shorten_text(tensor.expression, EXPRESSION_COLUMNS), "mono")
    # Without a name it is called by its id (T5), which a drawing does not have.
    if not tensor.has_name and tensor.id in tensor.label:
        # Of a leaf in whole words: "no name" alone reads as if its name had failed to load.
        return CardLine(
            gettext("leaf without a name") if tensor.is_grad_leaf else gettext("no name")
        )
    return CardLine(cut_middle(tensor.label, NAME_COLUMNS), "mono b")


def make_cut_card(tensor: NamedTensor) -> Card:
    """Make the card of a tensor that is off the graph, and shares memory with one on it."""
    line, state, words = CardLine(gettext("no name")), "", list[Beside]()
    # That it is a view of another is what the line to it says.
    if tensor.has_name or tensor.expression:
        line = _make_name_line(tensor)
    if tensor.has_name and tensor.is_new:
        state = "new"
        words.append(Beside(gettext("new"), is_fresh=True))
    whole = tensor.expression or tensor.label
    return Card(tensor.id, "cut", (line,), whole, state, tensor.id, tuple(words))


def make_off_card(tensor: NamedTensor) -> Card:
    """Make the card of a tensor off the graph that shares nothing with one on it."""
    lines = (_make_name_line(tensor), CardLine("requires_grad=False"))
    return Card(tensor.id, "cut", lines, tensor.label, tensor_id=tensor.id)


def make_freed_card(freed: FreedEntry) -> Card:
    """Make the card of a tensor that was cut off, and is gone with what a backward has freed."""
    lines = [CardLine(gettext("freed by backward"))]
    if freed.expression:
        lines.insert(0, CardLine(shorten_text(freed.expression, EXPRESSION_COLUMNS), "mono"))
    whole = gettext(
        "only the graph held this tensor: backward freed it, and a second backward that needs it raises"
    )
    return Card(freed.id, "cut", tuple(lines), whole)


def make_number_card(number: NumberEntry) -> Card:
    """Make the card of a number of Python's that was read from a tensor on the graph."""
    line = CardLine(shorten_text(number.label, NAME_COLUMNS), "mono b")
    state, words = "", list[Beside]()
    if number.is_new:
        state = "new"
        words.append(Beside(gettext("new"), is_fresh=True))
    words.append(Beside(gettext("a number")))
    return Card(number.id, "cut", (line,), number.label, state, beside=tuple(words))


def make_cut_mark(edge: GraphEdge) -> Card:
    """Make the mark of a cut, between the two halves of its line: what is to be seen first."""
    line = CardLine(gettext("cut off"), "b", "scissors")
    whole = gettext(MEANING_OF_CUTS[edge.kind])
    return Card(f"{edge.tail}/{edge.head}", "mark", (line,), whole)


def _state_of_entry(entry: NodeEntry | FoldEntry, *, is_freed: bool) -> str:
    # In the order of what a reader must not miss: with `since`, all of a graph may be new.
    if entry.is_found:
        return "found"
    if entry.flows:
        return "flows"
    if is_freed:
        return "freed"
    return "new" if entry.is_new else ""


def _list_beside(node: NodeEntry) -> Iterator[Beside]:
    for tensor in node.results[:MOST_BESIDE]:
        name = cut_middle(tensor.label, NAME_COLUMNS)
        whole = join_facts((tensor.label, *tensor.change_sentences))
        yield Beside(name, tensor.id, whole, tensor.is_new or bool(tensor.change_captions))
        if tensor.grad:
            yield Beside(tensor.grad, is_fresh=tensor.has_new_grad)
    hidden = len(node.results) - MOST_BESIDE
    if hidden > 0:
        yield Beside(gettext("and {number} more", number=hidden))
    yield from _list_words(node)


def _list_words(entry: NodeEntry | FoldEntry) -> Iterator[Beside]:
    # The arrow of an accumulator goes where its words would be.
    if isinstance(entry, NodeEntry) and entry.name == ACCUMULATOR:
        return
    # Words, too: colour alone does not reach everybody.
    if entry.is_found:
        yield Beside(gettext("found"), is_fresh=True)
    elif entry.is_new:
        yield Beside(gettext("new"), is_fresh=True)


def _look_of(remark: Remark) -> RemarkLook:
    return REMARK_LOOKS.get(remark.kind, RemarkLook())


def _join_tips(title: str, remarks: Iterable[Remark]) -> str:
    tips = [remark for remark in remarks if remark.caption and _look_of(remark).is_tip]
    captions = [remark.caption for remark in tips]
    if any(remark.kind == "freed" for remark in tips):
        meaning = gettext("backward freed what was saved; a second backward that needs it raises")
        captions = [meaning, *captions]
    if not captions:
        return title
    return gettext("{what}: {facts}", what=title, facts=join_facts(captions))


def _make_remark_lines(remarks: Iterable[Remark]) -> Iterator[CardLine]:
    for remark in remarks:
        look = _look_of(remark)
        # Without a caption, a remark is for the text alone.
        if look.is_tip or not remark.caption:
            continue
        sign = look.sign
        for text in wrap_text(remark.caption, REMARK_COLUMNS, most=REMARK_LINES):
            yield CardLine(text, "", sign)
            # The further lines of a remark have the room of its sign, and not the sign.
            sign = sign and "none"


# -- drawing -----------------------------------------------------------------------


_INKS_OF_SIGNS = {"cross": "bad-t", "warn": "bad-t", "was": "new-t"}
"""The inks of lines that have one of these signs before them."""


def draw_card(canvas: Canvas, card: Card, middle: tuple[float, float], names: str) -> None:
    """Draw a card with the middle of its box at a point, and its names "below", "aside", "astride" or "right"."""
    if card.kind == "mark":
        _draw_mark(canvas, card, middle)
        return
    x, y = middle
    size = card.size
    left, top = x - size.width / 2, y - size.height / 2
    box = _box_of_card(card)
    # A tensor has a hue of its own, unless the box says that something is wrong.
    tensor_id = card.tensor_id if box != "bad" else ""
    radius = {"node": 5.0, "fold": 5.0, "sum": DISC_SIZE / 2}.get(card.kind, 9.0)
    canvas.rect(left, top, size.width, size.height, box, radius, tensor_id)
    # Muted where nothing depends on it: what was freed, a fold, what is not in this picture.
    ink_of_card = "m" if box == "card dash" and card.kind != "cut" else "t"
    # A card of one line has it in its middle.
    line_y = top + 15.5 if len(card.lines) > 1 else y + 4.5
    whole, ink = card.whole, ink_of_card
    for line in card.lines:
        # A further line of a remark, which has "none" for a sign, has the ink of its first one.
        if line.sign != "none":
            ink = _INKS_OF_SIGNS.get(line.sign, ink_of_card)
        style = f"{ink} {line.style}".rstrip()
        if not line.sign:
            canvas.text(x, line_y, line.text, f"{style} c", whole=whole)
        else:
            if line.sign != "none":
                canvas.sign(line.sign, left + PADDING + 4, line_y - 4)
            canvas.text(left + PADDING + SIGN_WIDTH - 2, line_y, line.text, style)
        line_y += LINE_HEIGHT
        whole = ""  # the first line is the one that may be cut
    _draw_beside(canvas, card, (x, y), names)


def _draw_mark(canvas: Canvas, card: Card, middle: tuple[float, float]) -> None:
    """Draw the mark of a cut, dark on light and light on dark: it stands out from all other cards."""
    (x, y), size, line = middle, card.size, card.lines[0]
    left, width = x - size.width / 2, size.width - 2 * MARK_GAP
    canvas.rect(left + MARK_GAP, y - MARK_HEIGHT / 2, width, MARK_HEIGHT, "mark", MARK_HEIGHT / 2)
    canvas.sign(line.sign, left + PADDING + 9, y)
    text_x = x + (SIGN_WIDTH + 2) / 2
    canvas.text(text_x, y + 4.5, line.text, f"mark-t {line.style} c", whole=card.whole)


def _draw_beside(canvas: Canvas, card: Card, middle: tuple[float, float], names: str) -> None:
    """Draw what is beside a box: names as labels, and words."""
    if not card.beside:
        return
    left, top = card.size.find_names(middle, names)
    parts = card.beside
    if names == "astride" and card.word:
        *parts, word = parts
        _draw_part(canvas, word, middle[0] - ASIDE - word.width, top)
    for part in parts:
        _draw_part(canvas, part, left, top)
        left += part.width + GAP


def _draw_part(canvas: Canvas, part: Beside, left: float, top: float) -> None:
    """Draw a name as a label, or a word."""
    text_y = top + 11.5
    if part.tensor_id:
        classes = "name fresh" if part.is_fresh else "name"
        canvas.rect(left, top, part.width, NAME_HEIGHT, classes, NAME_HEIGHT / 2, part.tensor_id)
        text_x = left + part.width / 2
        canvas.text(text_x, text_y, part.text, "t mono b c", whole=part.whole)
        return
    style = "new-t b" if part.is_fresh else "t"
    # A line that goes down from the box must not cross it.
    canvas.rect(left, text_y - 10, part.width, 13, "page")
    canvas.text(left, text_y, part.text, style)


def _box_of_card(card: Card) -> str:
    # In the order of what a reader must not miss.
    if card.is_in_trouble:
        return "bad"
    if card.state in ("flows", "found"):
        return "new dash" if card.kind == "fold" else "new"
    if card.kind == "leaf":
        return "leaf fresh" if card.state == "new" else "leaf"
    if card.kind in ("node", "sum"):
        if card.state == "freed":
            return "card dash"
        return "band fresh" if card.state == "new" else "band"
    return "card dash"
