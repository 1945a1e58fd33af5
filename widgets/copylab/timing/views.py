"""What a race shows around its pictures: the plan, the bar, the results, as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from ..run.ending import count
from .clock import Timing
from .text import cell, duration, elements, findings, listed

if TYPE_CHECKING:
    from .race import Race

START, STOP, AGAIN = "Start the race", "Stop", "Race again"
HELP = """\
race() times ways to copy a tensor against each other.

Press Start, or call r.run(). First look where a line is flat: that method copies nothing, whatever the size.
Then look at the brackets: what they join cannot be told apart, however the numbers beside the names differ.

  race(["clone", "copy_"])                            only these
  race(sizes=[1, 1000, 1000000])                      other sizes
  race(source="plain")                                x requires no grad
  race({"mine": "y = x * 1", "clone": "y = x.clone()"})   code of your own

  r.results                  a Timing for each engine, method and size: .samples in seconds, .median, .quartiles
  print(r.report)            everything in words
  r.duel("clone", "copy_")   two of them, size by size
  r.pictures["tinytorch"].save("race.svg")
  r.stop(), or the button, or interrupting the kernel: the results so far are kept"""
_HOW = (
    "In each round every method is timed once at every size, in another order, on one thread. A time is the quickest "
    "of five runs one after another; what is shown is the median over the rounds and where its middle half lies."
)
_SURE = (
    "Two methods are told apart if one took over 3 % longer in the same rounds, certain in 99 of 100 cases. Memory "
    "that the program has used before is used again; new memory from the system can take several times as long."
)


def plan_text(race: Race) -> str:
    """The plan in words."""
    width = max(len(one.name) for one in race.methods)
    lines = [
        f"Race: {_heading(race)}",
        "",
        *(f"  {one.name:<{width}}  {'; '.join(one.code.splitlines())}" for one in race.methods),
        "",
        f"x is made by: {'; '.join(race.setup.replace('{size}', 'size').splitlines())}",
        f"Sizes: {', '.join(f'{size:,}' for size in race.sizes)} elements.",
        f"Engines: {_engines(race)}.",
        f"{_limits(race)} {_HOW} {_SURE}",
        "Nothing is timed before Start is pressed or .run() is called.",
    ]
    return "\n".join(lines)


def plan(race: Race, *, live: bool = True) -> str:
    """The plan as HTML; `live` where there is a button."""
    last = "" if live else "<p>Nothing is timed yet: run the cell and press Start, or call <code>.run()</code>.</p>"
    lead = "Which way to copy is quickest, and does it matter?" if live else f"Race: {escape(_heading(race))}"
    what = _heading(race, engines=True) if live else f"On {_engines(race)}"
    return f"<p><strong>{lead}</strong></p><p>{escape(what)}. {_limits(race)}</p>{last}{_code(race)}{_method()}"


def bar(race: Race) -> str:
    """How far the race is."""
    done = round(100 * race.progress)
    doing = f"{done} %" if race.progress else "Getting ready: a cell that is running comes first"
    return (
        f'<div style="display:flex;gap:12px;align-items:center"><progress id="bar" aria-label="Progress of the race" '
        f'max="100" value="{done}" style="flex:1 1 auto;min-width:128px;height:18px;accent-color:var(--tt-name-line)">'
        f"</progress><span>{doing}</span></div>"
    )


def how_it_ended(race: Race) -> str:
    """In a sentence: whether the race is over, and with how many rounds."""
    rounds = max((len(timing.samples) for timing in race.results), default=0)
    so_far = f"{count(rounds, 'round')} of {race.rounds:,}"
    match race.ended:
        case "finished":
            return f"The race is over: {count(rounds, 'round')}."
        case "stopped":
            return f"Stopped after {so_far}. What was timed is kept."
        case "interrupted":
            return f"Interrupted after {so_far}. What was timed is kept."
        case "time":
            return f"Stopped after {so_far}: the time is up (seconds={race.seconds:g}). What was timed is kept."
        case "error":
            return f"The race could not be run: {race._problem}"
        case _:
            return f"The race is on: {so_far}." if race.running else "Nothing is timed yet."


def spoken(race: Race) -> list[str]:
    """What a screen reader is told at the end."""
    return [f"On {name}: {' '.join(findings(race.of(name)))}" for name in race.pictures]


def results(race: Race) -> str:
    """The results so far as HTML."""
    pictures = race.pictures
    timed = any(timing.samples for timing in race.results)
    figures = "".join(
        f'<figure style="flex:1 1 416px;max-width:704px;min-width:0">{picture.svg}'
        f"{'' if race.running else _said(race.of(name))}</figure>"
        for name, picture in pictures.items()
    )
    tables = "".join(_table(name, race.of(name)) for name in pictures) if timed else ""
    body = figures if timed else _said(race.results)
    return (
        f"<p id='ended'><strong>{escape(how_it_ended(race))}</strong></p>"
        f'<div style="display:flex;flex-wrap:wrap;gap:12px;margin:8px 0">{body}</div>'
        f"{_details('times', 'All times', tables) if tables else ''}{_code(race)}{_method()}"
    )


def _said(timings: Sequence[Timing]) -> str:
    items = "".join(f'<li style="margin:3px 0">{escape(one)}</li>' for one in findings(timings))
    return f'<ul style="margin:6px 0 8px 19px;list-style:disc">{items}</ul>'


def _table(name: str, timings: Sequence[Timing]) -> str:
    sizes = sorted({one.lane.size for one in timings})
    head = "".join(f'<th scope="col">{size:,}</th>' for size in sizes)
    rows = ""
    for method in dict.fromkeys(one.lane.method for one in timings):
        by_size = {one.lane.size: one for one in timings if one.lane.method == method}
        cells = "".join(f"<td>{_cell(by_size[size])}</td>" for size in sizes)
        rows += f'<tr><th scope="row"><code>{escape(method)}</code></th>{cells}</tr>'
    return (
        f'<div style="overflow-x:auto" tabindex="0" role="region" aria-label="All times on {escape(name)}">'
        f"<table><caption style='text-align:left'><strong>{escape(name)}</strong>: median, and below it the middle "
        f'half of the rounds</caption><thead><tr><th scope="col">elements</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(timing: Timing) -> str:
    if not timing.samples:
        return escape(cell(timing))
    low, high = timing.quartiles
    return f"{duration(timing.median)}<br><small style='white-space:nowrap'>{duration(low)} to {duration(high)}</small>"


def _code(race: Race) -> str:
    rows = "".join(
        f'<tr><th scope="row"><code>{escape(one.name)}</code></th><td><pre>{escape(one.code)}</pre></td></tr>'
        for one in race.methods
    )
    setup = escape(race.setup.replace("{size}", "size"))
    return _details(
        "code", "The code that is timed", f"<table><tbody>{rows}</tbody></table><p>x is made by</p><pre>{setup}</pre>"
    )


def _method() -> str:
    return _details("how", "How it is timed", f"<p>{_HOW}</p><p>{_SURE}</p>")


def _details(name: str, title: str, body: str) -> str:
    summary = f'<summary style="cursor:pointer;width:fit-content">{title}</summary>'
    return f'<details id="{name}" style="margin-top:6px">{summary}{body}</details>'


def _heading(race: Race, *, engines: bool = False) -> str:
    ends = (
        f"from {race.sizes[0]:,} to {elements(race.sizes[-1])}"
        if len(race.sizes) > 1
        else f"with {elements(race.sizes[0])}"
    )
    made = f"{count(len(race.methods), 'way')} to copy, at {count(len(race.sizes), 'size')} {ends}"
    return f"{made}, on {_engines(race)}" if engines else made


def _engines(race: Race) -> str:
    return listed(race.engine_names) or "tinytorch, and on PyTorch where it is installed"


def _limits(race: Race) -> str:
    return f"{count(race.rounds, 'round')}, at most {race.seconds:g} seconds."
