"""How a CopyLab looks: the verdicts, the program, what changed and the two pictures, as HTML and in words.

Everything that comes from a program or a user is escaped here.
"""

from __future__ import annotations

import base64
from html import escape

from tinytorch import viz

from ..copying.facts import Fact, Facts
from ..run.capture import shown
from .play import Line, Result

_STRIP = (
    ("same_tensor", "y is", ("x itself", "a new tensor")),
    ("same_storage", "memory", ("shared with x", "its own")),
    ("same_counter", "version counter", ("shared with x", "its own")),
    ("requires_grad", "requires_grad", ("True", "False")),
    ("leaf", "leaf", ("yes", "no")),
    ("grad_fn", "grad_fn", ("", "")),
    ("gradient_returns", "gradient to x", ("flows back", "does not")),
    ("copied", "new memory", ("", "")),
)
WRONG = "A wrong gradient, and no error"
_EARLY = "The program takes long, so the verdicts are those right after the copy."
_TITLES = {"memory": "Memory", "graph": "Graph"}
_KINDS = {"out": "Printed", "err": "Error output", "warning": "Warning"}


def headline(result: Result) -> str:
    """What y is to x, in one sentence."""
    found = result.facts
    if found is None:
        return "Nothing is known of y: the program was stopped."
    if found["raises"].why:
        return "There is no x: the lines that make it raise an error."
    if found["raises"].answer is not None:
        return f"There is no y: this copy of {_source(result)} raises an error."
    if not result.copied:
        return "There is no y: the lines of this method do not make one."
    if found["same_tensor"].answer is True:
        return "y is x itself: two names for one tensor."
    if found["same_storage"].answer is True:
        counter = (
            "and shares its version counter" if found["same_counter"].answer else "but has its own version counter"
        )
        first = f"y is a new tensor over the memory of x {counter}"
    else:
        first = "y is a new tensor with its own memory"
    return f"{first}; {_gradient(found)}."


def _gradient(found: Facts) -> str:
    if found["gradient_returns"].why:
        return "x requires no grad, so no gradient flows" if not found.source.requires_grad else "no gradient can flow"
    if found["gradient_returns"].answer is True:
        return "gradients flow back to x"
    return (
        "it requires grad on its own, and no gradient flows back to x"
        if found["requires_grad"].answer
        else ("it is off the graph, and no gradient flows back")
    )


def _source(result: Result) -> str:
    return {"leaf": "a leaf", "result": "a result", "plain": "a tensor without grad"}[result.source.kind]


def about(result: Result) -> str:
    """What is copied, in a few words."""
    source = result.source
    turned = ", transposed" if source.transposed else ""
    grad = {"leaf": "a leaf that requires grad", "result": "a result that requires grad", "plain": "without grad"}
    where = f", on {source.device}" if source.device != "cpu" else ""
    return f"x: {source.dtype}, shape {source.shape}{turned}{where}, {grad[source.kind]}"


def setting(result: Result) -> str:
    """What is copied and how, as HTML."""
    return f"CopyLab: {escape(about(result))}; y by <code>{escape(one_line(result.method.name))}</code>."


def safe(said: str) -> str:
    """Text as HTML."""
    return escape(shown(said))


def strip(found: Facts, key: str, words: tuple[str, str]) -> str:
    """A verdict in the words of the strip."""
    answer = found[key].answer
    if key == "copied":
        return "none" if answer == 0 else found[key].said
    if key == "gradient_returns" and not found.source.requires_grad:
        return "x asks for none"
    return words[0] if answer is True else words[1] if answer is False else found[key].said


def text(result: Result) -> str:
    """All of it in words."""
    digits = len(str(len(result.lines)))
    lines = [f"CopyLab, {about(result)}; y by {one_line(result.method.name)}.", ""]
    lines += [f"  {line.number:>{digits}}  {shown(line.text)}{_state(line)}" for line in result.lines]
    lines += ["", headline(result), *_also(result)]
    for title, said in _outputs(result):
        lines += [f"{title}:", *(f"  {line}" for line in said.splitlines())]
    if result.changes:
        lines += [_changed(result) + ":", *(f"  - {one}" for one in result.changes)]
    if result.explanation:
        lines += [f"{'Why' if result.error else WRONG}:", *(f"  {one}" for one in result.explanation)]
    if result.facts is not None:
        wide = max(len(fact.question) for fact in result.facts.values())
        lines += ["", "Verdicts:", *(f"  {fact.question:<{wide}}  {_said(fact)}" for fact in result.facts.values())]
    if result.snapshot is not None:
        pictures = [viz.memory(result.snapshot, since=result.before).text]
        pictures += [viz.graph(result.snapshot, since=result.before).text] if result.snapshot.nodes else []
        for picture in pictures:
            lines += ["", picture]
    return "\n".join(line.rstrip() for line in lines)


def html(result: Result, key: str = "", old: Result | None = None) -> str:
    """All of it but the proofs, as HTML.

    key: makes the ids of one live view its own; without it the pictures are images, which need no style of the page.
    old: what was shown before; verdicts that differ from it are marked.
    """
    return (
        f'<div class="cl-lab">{_head(result)}{_strip(result, old)}'
        f'<div class="cl-lab-halves"><div>{_program(result)}</div><div>{_story(result)}</div></div>'
        f'<div class="cl-lab-halves cl-lab-pictures">{_pictures(result, key)}</div></div>'
    )


def _head(result: Result) -> str:
    return f'<p class="cl-lab-head"><strong>{escape(headline(result))}</strong></p>'


def _strip(result: Result, old: Result | None) -> str:
    found = result.facts
    if found is None or not result.copied:
        return ""
    cells = []
    for key, label, words in _STRIP:
        said = strip(found, key, words)
        was = strip(old.facts, key, words) if old is not None and old.facts is not None else said
        changed = f'<span class="cl-lab-was">was: {escape(was)}</span>' if was not in (said, "-") else ""
        kind = "yes" if found[key].answer is True else "no" if found[key].answer is False else "other"
        cells.append(
            f'<div class="cl-lab-{kind}" data-verdict="{key}" data-answer="{escape(str(found[key].answer))}">'
            f"<dt>{escape(label)}</dt><dd>{escape(said)}{changed}</dd></div>"
        )
    return f'<dl class="cl-lab-strip">{"".join(cells)}</dl>'


def _program(result: Result) -> str:
    newest = "action" if result.actions else "copy"
    first = _newest(result)
    rows = []
    for line in result.lines:
        marks = [f"cl-lab-{line.part}"]
        marks += ["cl-lab-raised"] if line.state == "raised" else []
        marks += ["cl-lab-skipped"] if line.state == "not run" else []
        marks += ["cl-lab-here"] if line.number >= first and line.part == newest and line.state == "ran" else []
        note = f'<span class="cl-lab-note">{escape(_state(line).strip())}</span>' if line.state != "ran" else ""
        rows.append(f'<li class="{" ".join(marks)}"><code>{escape(shown(line.text))}</code>{note}</li>')
    return (
        '<p class="cl-lab-title">Program, as it ran</p>'
        f'<ol class="cl-lab-code" tabindex="0" role="list" aria-label="Program">{"".join(rows)}</ol>'
    )


def _newest(result: Result) -> int:
    """The first line of the last part of the program."""
    last = result.actions[-1] if result.actions else result.method.code
    return len(result.lines) - len(last.splitlines()) + 1


def _story(result: Result) -> str:
    parts = []
    for title, said in _outputs(result):
        kind = title.partition(" ")[0].lower()
        long = f' tabindex="0" role="region" aria-label="{title}"' if len(said) > 500 or said.count("\n") > 9 else ""
        pre = f"<pre{long}>{escape(said)}</pre>"
        parts.append(f'<div class="cl-lab-out cl-lab-{kind}"><strong>{title}</strong>{pre}</div>')
    if result.explanation:
        told = "".join(f"<p>{escape(shown(one))}</p>" for one in result.explanation)
        kind, title = ("why", "Why") if result.error else ("wrong", WRONG)
        parts.append(f'<div class="cl-lab-out cl-lab-{kind}"><strong>{title}</strong>{told}</div>')
    parts += [f"<p>{escape(one)}</p>" for one in _also(result)]
    if not result.error:
        said = "".join(f"<li>{escape(shown(one))}</li>" for one in result.changes or ("Nothing that can be seen.",))
        parts.append(f'<p class="cl-lab-title">{_changed(result)}</p><ul class="cl-lab-changes">{said}</ul>')
    return "".join(parts)


def _changed(result: Result) -> str:
    last = result.actions[result.ran - 1] if result.ran else result.method.code
    return f"What {one_line(last)} changed" if "\n" not in last.strip() else "What the last lines changed"


def _also(result: Result) -> list[str]:
    """Remarks on the source and on what was not run."""
    found, left = result.facts, len(result.actions) - result.ran - 1
    said = [f"x is a stand-in for your tensor: {result.source.note}."] if result.source.note else []
    said += [_EARLY] if found is not None and result.copied and result.ran and not found.then else []
    said += [*result.effects, "The program is run anew for each look, and does this again."] if result.effects else []
    if result.error and left >= 0 and result.ended == "error" and result.facts is not None:
        said += ["The next action takes the place of the line that raised."] if result.copied else []
    return said


def _outputs(result: Result) -> list[tuple[str, str]]:
    said = [(_KINDS[kind], shown(one.rstrip("\n"))) for kind, one in result.output if kind in _KINDS]
    if result.error:
        title = f"Error on line {result.error_line}" if result.ended == "error" else f"Line {result.error_line}"
        said.append((title, shown(result.error)))
    return said


def _state(line: Line) -> str:
    return {"ran": "", "raised": "  <- it ended here", "not run": "  (not run)"}[line.state]


def _said(fact: Fact) -> str:
    return f"{fact.said} ({fact.why})" if fact.why and not fact.why.startswith("the copy was") else fact.said


def one_line(code: str) -> str:
    """The first line of code, and a mark that there are more."""
    first, _, rest = shown(code).partition("\n")
    return first[:80] + (" ..." if rest or len(first) > 80 else "")


def _pictures(result: Result, key: str) -> str:
    if result.snapshot is None or not result.snapshot.tensors:
        return ""
    memory = viz.memory(result.snapshot, since=result.before)
    made = [_picture("memory", memory.svg, memory.text, key)]
    if result.snapshot.nodes:
        graph = viz.graph(result.snapshot, since=result.before)
        try:
            made.append(_picture("graph", graph.svg, graph.text, key))
        except viz.LayoutError as error:  # the words need no Graphviz
            made.append(_picture("graph", "", f"This picture cannot be drawn here: {error}\n\n{graph.text}", key))
    return "".join(made)


def _picture(kind: str, svg: str, words: str, key: str) -> str:
    title = _TITLES[kind]
    if key:
        drawn = f'<div class="cl-lab-holder">{svg}</div>' if svg else ""
    else:
        source = base64.b64encode(svg.encode()).decode()
        drawn = f'<img alt="{title}, told in words below" src="data:image/svg+xml;base64,{source}">' if svg else ""
    opened = "" if svg else " open"
    return (
        f'<figure data-picture="{kind}"><figcaption class="cl-lab-title">{title}</figcaption>{drawn}'
        f"<details{_id(key, kind)}{opened}><summary{_id(key, kind, 'words')}>{title} in words</summary>"
        f"<pre>{escape(words)}</pre></details></figure>"
    )


def proofs(result: Result, key: str = "") -> str:
    """All verdicts, folded, and in each the program that proves it."""
    if result.facts is None:
        return ""
    rows = []
    for name, fact in result.facts.items():
        answer = escape(_said(fact))
        if not fact.why:
            program = (
                f"<pre>{escape(shown(fact.proof.rstrip()))}</pre><p>prints <code>{escape(fact.printed)}</code></p>"
            )
            answer = (
                f"<details{_id(key, 'proof', name)}><summary{_id(key, 'answer', name)}>{answer}</summary>"
                f"{program}</details>"
            )
        rows.append(f'<tr><th scope="row">{escape(fact.question)}</th><td>{answer}</td></tr>')
    return (
        f'<details class="cl-lab"{_id(key, "proofs")}><summary{_id(key, "proofs", "head")}>'
        "All verdicts, each with the program that proves it</summary>"
        f'<table class="cl-lab-proofs"><tbody>{"".join(rows)}</tbody></table></details>'
    )


def _id(key: str, *parts: str) -> str:
    return f' id="{escape("-".join((key, *parts)))}"' if key else ""
