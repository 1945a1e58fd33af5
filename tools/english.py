"""Patterns of English that this project avoids, each with what to write instead.

    python tools/english.py             says where one is, and ends with 1 if there is any

They are correct words in an order that no good technical author would choose: `shall`, `for` in
place of `because`, `stands` in place of `is`. What is read: the lessons, the catalogues (texts of
pictures, of widgets, tasks of lessons), README, CONTRIBUTING and docs, and of the packages, tests
and tools the docstrings and comments. Other code is left out.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from babel.messages.pofile import read_po
from project_files import ROOT, read_prose

VERBS = (
    "is|are|was|were|has|have|had|does|do|did|can|cannot|could|may|might|must|will|would"
    "|shares?|needs?|stays?"
)
# "Stands in for" is good English.
PLACES = (
    "in(?! for)|on|at|there|here|beside|between|below|above|behind|under|around|outside|inside"
    "|with|for itself"
)
BECAUSE = "because, or a sentence of its own"
# Regular expressions, and not a parser of English: each is a turn that was written here, found again
# by its words. What they cannot tell from good English is written in another way.
PATTERNS = {
    r"\bshall\b": "should, must or will",
    (
        r"[,:;] for (?!example|instance|which|whom|a |an |pictures)"
        rf"(?:[^\s,.;:]+ ){{1,5}}?(?:{VERBS})\b"
    ): BECAUSE,
    r", for (?:it|they|there|nobody|nothing|nowhere|everybody|both|otherwise|then|what)\b": BECAUSE,
    r"\bnone any more\b": "no longer a ...",
    r"\b(?:the|a|no) way back\b": "the gradient flows back to ...",
    r"\bthe other way\b(?! a?round)": "say which way",
    (
        r"(?:^|[.;] )Who [^?]*?[.;]"
        r"|\bwho (?:is|are|has) \w+ (?:is|are|has|gets|sees)\b"
    ): "whoever ..., or: if you ...",
    r"\b(?:he|she|the one) who\b": "whoever ..., or: if you ...",
    rf"\b(?:stands?|stood) (?:{PLACES})\b": "is",
    r"\b(?:lies?|lay) (?:in|on|at|beside|below|above|behind)\b": "is",
    r"\b\w+'s (?:\w+ )?\w+'s\b": "one of the two with of",
    r"\bnumbers of time\b": "timings",
    r"\b(?:has|have) not(?:[.,;:]|$)": "name what it doesn't have",
    r"\band still:": "say what happens",
    r"\bsections? \d": "name it: headings have no numbers",
    r"\b(?:[Tt]he|[Aa]n)other thing each time\b": "something else each time",
    (
        r"(?:^|[.;:] )(?:In|On|At|Below|Above|Behind|To) [^.,;:]{2,40} "
        r"(?:stands?|lies?|leads?) (?:an?|the|what|no)\b"
    ): "subject, verb, object",
}


FOR_READERS = {
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bset (?:it|them) back\b": "reset",
    r"(?<!here )\b(?:is|are) no (?:leaf|leaves|lists?|scalars?|views?|files?|folders?)\b": "is not a",
    r"\d -> \d": "an arrow: 0 → 1",
    # A text is written; a tensor is written to. What can be told by its words: where and when it was,
    # and by which line.
    (
        r"(?i:\bwritten (?:on line|on \{lines\}|afterwards|unseen|since|past|in place"
        r"|by (?:line|\{lines\}|\{written\})|after (?:line|the forward|\{))"
        r"|\bwas written (?:where nothing|\d+ times?|\{number\})"
        r"|\b(?:tensor|memory|storage|base|view|lea(?:f|ves)|gradient|parameter|cell)s? (?:that )?"
        r"(?:was|were|is|are|has been|have been|may not be|can be|cannot be) written\b"
        r"(?! (?:to|into|over|through|by|as|with)\b))"
    ): "written to, or changed if the values differ",
}
"""Patterns that lessons, widgets and docs avoid, and comments may have."""

FIRST_LINES = {
    r"^What (?:is|are)\b": "a noun phrase",
    r"^Whether\b.*\b(?:is|are|has) one\b": "Return True if ...",
    r"^(?:Who|Where|How many|So many)\b": "a noun phrase, or an imperative",
}
"""What the first line of a docstring does not begin with."""
CODE = ("tinytorch", "widgets", "tests", "tools")
TEMPLATES = ("tinytorch/locale/tinytorch.pot", "widgets/copylab/locale/copylab.pot")


def list_texts(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Yield what people read, with the name of its place."""
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        yield path.relative_to(root).as_posix(), read_prose(path)
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("notebooks/*.md")]
    for path in sorted(pages):
        yield path.relative_to(root).as_posix(), path.read_text("utf-8")
    for template in TEMPLATES:
        yield template, "\n\n".join(_catalogue_texts(root / template))


def _catalogue_texts(template: Path) -> Iterator[str]:
    with template.open("rb") as file:
        for message in read_po(file):
            if isinstance(message.id, str):
                yield message.id
            else:
                yield from message.id


def code_texts(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Yield each docstring and each block of comments of the code, with its file and line."""
    yield from list_docstrings(root)
    for path in _code_files(root):
        place = path.relative_to(root).as_posix()
        for line, text in comments_in(path.read_text("utf-8")):
            yield f"{place}:{line}", text


def list_docstrings(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Yield each docstring of the code, with its file and line."""
    for path in _code_files(root):
        place = path.relative_to(root).as_posix()
        for node in walk_statements(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
                yield f"{place}:{getattr(node, 'lineno', 1)}", text


def walk_statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all statements below it.

    It is `ast.walk` without expressions: they are most of the nodes and have no docstrings.
    """
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from walk_statements(child)


def _code_files(root: Path) -> Iterator[Path]:
    for folder in CODE:
        for path in sorted((root / folder).rglob("*.py")):
            # Programs are as people write them.
            if "programs" not in path.parts:
                yield path


DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def comments_in(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments of a source with their lines.

    Those on lines that follow each other are one: a sentence goes on from line to line.
    """
    begin, last, block = 0, 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        # What tools read is no English.
        if token.type != tokenize.COMMENT or re.match(r"#( noqa| type:| fmt:|!)", token.string):
            continue
        line = token.start[0]
        if block and line != last + 1:
            yield begin, "\n".join(block)
            block = []
        begin, last = (begin if block else line), line
        block.append(token.string.lstrip("# "))
    if block:
        yield begin, "\n".join(block)


def first_line_faults(text: str) -> Iterator[str]:
    """Yield how the first line of a docstring begins and should not, with what to write instead."""
    first = text.partition("\n")[0]
    for pattern, instead in FIRST_LINES.items():
        if re.search(pattern, first):
            yield f"{first[:60]} ...  (write: {instead})"


def without_code(text: str) -> str:
    """Leave out what is code: blocks, comments, what is between backticks.

    In a sentence a word takes its place, so that the patterns see what is around it.
    """
    text = re.sub(r"^```.*?^```$|<!--.*?-->|^    .*?$", "\n", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`|<code>.*?</code>|\]\([^)]*\)", "X", text)


def find_patterns(text: str, patterns: Mapping[str, str] = PATTERNS) -> Iterator[str]:
    """Yield the patterns in a text, each with words around it and what to write instead."""
    # A line break is as good as a blank: a turn may go over two lines.
    for paragraph in re.split(r"\n\s*\n|\n(?=[|#>*\-\d])", without_code(text)):
        line = " ".join(paragraph.split()).lstrip("|#>*- ")
        for pattern, instead in patterns.items():
            for match in re.finditer(pattern, line):
                around = line[max(0, match.start() - 30) : match.end() + 30]
                yield f"`{match[0].strip()}`  (write: {instead})  in ... {around} ..."


def find_faults(
    places: Iterable[tuple[str, str]], patterns: Mapping[str, str] = PATTERNS
) -> list[str]:
    """Return a line for each pattern in these places."""
    faults = []
    for place, text in places:
        faults += [f"{place}: {fault}" for fault in find_patterns(text, patterns)]
    # The singular and the plural of a text have the same fault.
    return list(dict.fromkeys(faults))


def docstring_faults(root: Path = ROOT) -> list[str]:
    """Return a line for each docstring whose first line begins as none should."""
    faults = []
    for place, text in list_docstrings(root):
        faults += [f"{place}: {fault}" for fault in first_line_faults(text)]
    return faults


def main() -> int:
    """Print a line for each pattern, and return 1 if there is any."""
    faults = find_faults(list_texts(), PATTERNS | FOR_READERS)
    faults += [*find_faults(code_texts()), *docstring_faults()]
    print("\n".join(faults) or "No pattern was found.")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
