"""The text of pictures: the same remarks as in the drawing, in whole sentences and a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..show import (
    FACT_KINDS,
    FoldEntry,
    GraphContents,
    MemoryContents,
    NamedTensor,
    NodeEntry,
    PackEntry,
    Remark,
    RemarkKind,
    StorageEntry,
    TensorEntry,
)
from ..wording import gettext, join_facts, join_lines

_OF_LINE_BEFORE: tuple[RemarkKind, ...] = ("gradient changed", "maybe written")
"""Of the remarks of a node: they belong to the line before, and are indented below it."""

# -- memory ------------------------------------------------------------------------


def write_memory_text(contents: MemoryContents) -> str:
    """Return a memory picture in words, with what changed."""
    lines = [contents.heading.sentence]
    for entry in contents.entries:
        lines.append("")
        if isinstance(entry, PackEntry):
            lines.append(gettext("{sentence}.", sentence=entry.summary))
        else:
            lines += _write_storage(entry)
    for tensor in contents.without_storage:
        lines += ["", *_write_tensor(tensor)]
    if contents.notes:
        lines.append("")
    for note in contents.notes:
        if note.kind == "hazard":
            lines.append(_sentence_of_remark(note))
        else:
            # A half sentence in the drawing, and a whole one here.
            sentence = f"{note.sentence[:1].upper()}{note.sentence[1:]}"
            lines.append(gettext("{sentence}.", sentence=sentence))
    return join_lines(lines)


def write_pack_text(entries: Iterable[StorageEntry | PackEntry]) -> str:
    """Return the tensors of an opened pack in words, each with its storage."""
    lines: list[str] = []
    for entry in entries:
        # It is opened by itself.
        if isinstance(entry, PackEntry):
            continue
        for tensor in entry.tensors:
            first, *others = _write_tensor(tensor)
            lines += [f"{entry.storage.id} {first}", *others]
        if entry.more:
            lines.append(f"  {entry.more.sentence}")
    return join_lines(lines)


def _write_storage(entry: StorageEntry) -> Iterator[str]:
    title = gettext("{storage}, {title}", storage=entry.storage.id, title=entry.title.sentence)
    yield _write_statement(title, entry.size.sentence)
    for remark in entry.remarks:
        # Without a sentence, a remark is for the drawing alone.
        if remark.sentence:
            yield f"  {_sentence_of_remark(remark)}"
    for tensor in entry.tensors:
        for line in _write_tensor(tensor):
            yield f"  {line}"
    if entry.more:
        yield f"  {entry.more.sentence}"
    for counter in entry.counters:
        yield f"  {counter.sentence}"


def _write_tensor(entry: TensorEntry) -> Iterator[str]:
    facts, sentences = [], []
    for remark in entry.remarks:
        # Without a sentence, a remark is for the drawing alone.
        if not remark.sentence:
            continue
        if remark.kind in FACT_KINDS:
            facts.append(remark.sentence)
        else:
            sentences.append(_sentence_of_remark(remark))
    yield _write_statement(_mark_new(entry.label, entry.is_new), join_facts(facts))
    for sentence in sentences:
        yield f"  {sentence}"


def _write_statement(subject: str, facts: str) -> str:
    """Return a sentence: what it is about, and facts of it."""
    return gettext("{sentence}.", sentence=gettext("{what}: {facts}", what=subject, facts=facts))


def _sentence_of_remark(remark: Remark) -> str:
    """Return the sentence of a remark, with a prefix that says what kind it is."""
    match remark.kind:
        case "changed" | "gradient changed":
            return gettext("Changed: {fact}.", fact=remark.sentence)
        case "hazard":
            return gettext("In trouble: {sentence}.", sentence=remark.sentence)
        case "note":
            return gettext("Note: {note}.", note=remark.sentence)
    return remark.sentence


def _mark_new(label: str, is_new: bool) -> str:
    if is_new:
        return gettext("{what} (new)", what=label)
    return label


def _mark_found(label: str, is_found: bool) -> str:
    if is_found:
        return gettext("{what} (found)", what=label)
    return label


# -- graphs ------------------------------------------------------------------------


def write_graph_text(contents: GraphContents) -> str:
    """Return a graph picture in words, with what changed."""
    lines = [contents.heading.sentence]
    for tensor in contents.listed:
        lines += _write_named_tensor(tensor)
    if contents.not_listed:
        lines.append(f"  {contents.not_listed}")
    for number in contents.numbers:
        sentence = gettext(
            "{number}, read from {source}: no gradient goes through it.",
            number=_mark_new(number.label, number.is_new),
            source=number.source,
        )
        lines.append(f"  {sentence}")
    lines += _write_entries(contents)
    if contents.notes:
        lines.append("")
    for note in contents.notes:
        lines.append(gettext("Note: {note}.", note=note))
    return join_lines(lines)


def write_fold_text(fold: FoldEntry, contents: GraphContents) -> str:
    """Return an opened fold in words."""
    return join_lines([fold.summary, *_write_entries(contents)])


def _write_named_tensor(tensor: NamedTensor) -> Iterator[str]:
    yield "  " + _write_statement(_mark_new(tensor.label, tensor.is_new), tensor.sentence)
    for fact in tensor.change_sentences:
        yield "    " + gettext("Changed: {fact}.", fact=fact)


def _write_entries(contents: GraphContents) -> Iterator[str]:
    """Yield the lines of nodes and folds, an empty line before each."""
    for entry in contents.entries:
        yield ""
        if isinstance(entry, NodeEntry):
            yield from _write_node(entry)
        else:
            yield from _write_fold(entry)


def _write_node(node: NodeEntry) -> Iterator[str]:
    yield _mark_found(_mark_new(f"{node.id} {node.name}", node.is_new), node.is_found)
    for remark in node.remarks:
        if remark.sentence:
            indent = "    " if remark.kind in _OF_LINE_BEFORE else "  "
            yield indent + _sentence_of_remark(remark)


def _write_fold(fold: FoldEntry) -> Iterator[str]:
    heading, *others = (remark for remark in fold.remarks if remark.sentence)
    yield _mark_found(heading.sentence, fold.is_found)
    for remark in others:
        yield f"  {_sentence_of_remark(remark)}"
