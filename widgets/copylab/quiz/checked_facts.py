"""Facts for the check of an exercise, each with a sentence for yes and one for no.

    def check(x, t):
        yield shows_values([2, 3], t=t)
        yield share_no_cells(t=t, x=x)

An answer is right if all of them hold, and the verdict consists of these sentences: nothing is said
that was not looked at. The keywords are the names of the tensors in the sentences.

They look at a learner's live tensors, for exercises alone. The facts that answer the questions of a
prediction are in `tensor_facts.py`, and are read off a run.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeGuard

from tinytorch.viz import RetainedGradients, join_names, short_node_name, snapshot, version_of

from ..looks import grad, is_tensor, keeps_saved, node_of, same_storage, values
from ..run import engine_for, is_self_contained
from ..wording import gettext, join_sentences, ngettext
from .answers import is_same_answer, quote_number
from .attempts import run_attempt
from .cuts import describe_cuts, find_cuts


@dataclass(frozen=True)
class CheckedFact:
    """A fact about a learner's variables: if it holds, and what to say.

    no: the sentence where it does not hold.
    yes: the sentence where it does; empty if every right answer has it in common, and nothing is
        learned from it.
    is_told: True if a right answer is told so where the exercise has a sentence of its own, too.
    """

    holds: bool
    no: str
    yes: str = ""
    is_told: bool = False

    def with_objection(self, no: str) -> CheckedFact:
        """Return the same fact with another sentence for the case that it does not hold."""
        return replace(self, no=no)


def are_tensors(**named: Any) -> CheckedFact:
    """All of these are tensors."""
    for name, value in named.items():
        if not is_tensor(value):
            kind = type(value).__name__
            no = gettext(
                "`{name}` is of type `{kind}`; it should be a tensor.", name=name, kind=kind
            )
            if value is None and name.endswith(")"):
                no = gettext(
                    "`{name}` gives None; it should give a tensor. A function gives back what comes after `return`.",
                    name=name,
                )
            return CheckedFact(False, no)
    return CheckedFact(True, "")


def _require_tensors(check_fact: Callable[..., CheckedFact]) -> Callable[..., CheckedFact]:
    """Make a function about tensors accept anything: it says so of what is no tensor.

    A learner's variable may be a list or a number, and an AttributeError is no help then.
    """

    @functools.wraps(check_fact)
    def check_types_first(*arguments: Any, **named: Any) -> CheckedFact:
        all_are_tensors = are_tensors(**named)
        return check_fact(*arguments, **named) if all_are_tensors.holds else all_are_tensors

    return check_types_first


def name_elements(**named: Any) -> dict[str, Any]:
    """Name the elements of a list or dict: kept[0], best['weight']."""
    ((name, container),) = named.items()
    pairs = container.items() if isinstance(container, Mapping) else enumerate(container)
    return {f"{name}[{key!r}]": element for key, element in pairs}


def is_tensor_list(count: int, **named: Any) -> CheckedFact:
    """A list of `count` tensors."""
    ((name, elements),) = named.items()
    if not isinstance(elements, list | tuple):
        no = gettext(
            "`{name}` is of type `{kind}`; it should be a list.",
            name=name,
            kind=type(elements).__name__,
        )
        return CheckedFact(False, no)
    if len(elements) == count:
        return are_tensors(**name_elements(**named))
    no = gettext(
        "the length of `{name}` is {size}; it should be {right}.",
        name=name,
        size=len(elements),
        right=count,
    )
    return CheckedFact(False, no)


def elements_survive_writes(**named: Any) -> CheckedFact:
    """No element of a list shares cells with a tensor that was written in place several times."""
    (name, elements), (source_name, source) = named.items()
    sharing = [
        element_name
        for element_name, element in name_elements(**{name: elements}).items()
        if _share_cells(element, source)
    ]
    version = version_of(source) if sharing else 0
    no = gettext(
        "`{element}` looks at the cells of `{source}`, and `{source}._version` is "
        "{version}: one write overwrites the other.",
        element=sharing[0] if sharing else "",
        source=source_name,
        version=version,
    )
    # One write alone overwrites nothing that was kept.
    return CheckedFact((version or 0) < 2, no)


def shows_values(expected: Any, **named: Any) -> CheckedFact:
    """A tensor, a number or a list of them has these values, as far as four printed digits tell."""
    ((name, value),) = named.items()
    is_list = isinstance(value, list | tuple)
    found = [values(element) for element in value] if is_list else values(value)
    no = gettext(
        "`{name}` shows {value}; it should show {right}.",
        name=name,
        value=quote_number(found),
        right=quote_number(expected),
    )
    yes = gettext("`{name}` shows {value}.", name=name, value=quote_number(found))
    return CheckedFact(_are_close(found, expected), no, yes)


def shows_number(expected: float, **named: Any) -> CheckedFact:
    """A number has this value, or the only one in a tensor, an array or a list, however deep."""
    ((name, value),) = named.items()
    found = value.tolist() if hasattr(value, "tolist") else value
    # Whatever is around it: `[[12.0]]` is as good an answer as 12.
    while isinstance(found, list | tuple) and len(found) == 1:
        found = found[0]
    return shows_values(expected, **{name: found})


@_require_tensors
def share_no_cells(**named: Any) -> CheckedFact:
    """No two of these tensors have a cell in common."""
    yes = gettext(
        "{names} have no cell in common.", names=join_names([f"`{name}`" for name in named])
    )
    for a, b in itertools.combinations(named, 2):
        if _share_cells(named[a], named[b]):
            no = gettext("`{a}` and `{b}` are one tensor.", a=a, b=b)
            if named[a] is not named[b]:
                no = gettext(
                    "`{a}` and `{b}` look at the same cells: a write through one is seen in the "
                    "other.",
                    a=a,
                    b=b,
                )
            return CheckedFact(False, no, yes)
    return CheckedFact(True, "", yes)


def _share_cells(a: Any, b: Any) -> bool:
    """Return True if two objects are tensors with a common cell; rows of one matrix have none."""
    if not (is_tensor(a) and is_tensor(b)):
        return False
    return snapshot(a=a, b=b).shares_cells("a", "b")


@_require_tensors
def share_storage(**named: Any) -> CheckedFact:
    """Two tensors, and not one tensor twice, look at one storage."""
    (a, tensor), (b, other) = named.items()
    no = gettext(
        "`{a}` has a storage of its own: a write into `{a}` is not seen in `{b}`.", a=a, b=b
    )
    if tensor is other:
        no = gettext("`{a}` is `{b}` itself, under a second name.", a=a, b=b)
    yes = gettext("`{a}` and `{b}` look at the same storage.", a=a, b=b)
    return CheckedFact(tensor is not other and same_storage(tensor, other), no, yes)


def needs_no_grad(**named: Any) -> CheckedFact:
    """A tensor, or a number, that does not require grad."""
    ((name, tensor),) = named.items()
    node = node_of(tensor)
    no = gettext("`{name}` requires grad.", name=name)
    if node is not None:
        no = gettext(
            "`{name}` was computed from a tensor that requires grad, so `{name}` requires grad, too: "
            "its node is `{node}`.",
            name=name,
            node=node,
        )
    yes = gettext("`{name}` requires no grad.", name=name)
    return CheckedFact(not getattr(tensor, "requires_grad", False), no, yes)


@_require_tensors
def is_leaf_with_grad(**named: Any) -> CheckedFact:
    """A leaf that requires grad."""
    ((name, tensor),) = named.items()
    no = gettext("`{name}` requires no grad; it should be a leaf that requires grad.", name=name)
    if tensor.requires_grad:
        no = _describe_node(name, short_node_name(node_of(tensor) or ""))
    else:
        # Of a leaf or of a result: without the cut, it would have been either.
        no = _begin_with_cut(no, lambda variables: variables[name].requires_grad)
    yes = gettext("`{name}` is a leaf that requires grad.", name=name)
    return CheckedFact(tensor.is_leaf and tensor.requires_grad, no, yes)


def _describe_node(name: str, node: Any) -> str:
    """Say that a tensor is a result, and which line of the cell made it one, if that is known."""
    lines = [binding.lineno for binding in list_bindings(_source_of_answer.get(), name)]
    if lines:
        return gettext(
            "line {line} of your cell computes `{name}`, so `{name}` is not a leaf: its node is `{node}`.",
            line=max(lines),
            name=name,
            node=node,
        )
    return gettext("`{name}` is not a leaf: its node is `{node}`.", name=name, node=node)


def _begin_with_cut(sentence: str, holds: Callable[[Mapping[str, Any]], bool]) -> str:
    """Put before a sentence which place of the cell cut off a history, if that alone keeps a fact from holding.

    holds: asked of the variables of the program without the place.
    """
    source = _source_of_answer.get()
    if not is_self_contained(source):
        return sentence

    def is_mended(program: str) -> bool:
        # Some variable may be missing, or no tensor, where a place was left out.
        with contextlib.suppress(Exception):
            return bool(holds(run_attempt("", program, engine_for({})).variables))
        return False

    return join_sentences(filter(None, [describe_cuts(find_cuts(source, is_mended)), sentence]))


@_require_tensors
def graph_leads_back(**named: Any) -> CheckedFact:
    """The nodes behind one tensor lead to another, so that `backward` gets there."""
    (result_name, result), (source_name, source) = named.items()
    no = gettext(
        "`{result}` has no node that leads to `{source}`.", result=result_name, source=source_name
    )
    # A tensor does not lead to itself: the sentences below would blame its nodes for that.
    if result is source:
        no = gettext("`{a}` is `{b}` itself, under a second name.", a=result_name, b=source_name)
    elif not result.requires_grad:
        no = gettext(
            "`{result}` requires no grad: `backward` cannot get from it to `{source}`.",
            result=result_name,
            source=source_name,
        )
    yes = gettext(
        "`{result}` leads back to `{source}` through its nodes.",
        result=result_name,
        source=source_name,
    )
    does_lead = _does_lead(result, source)
    if not does_lead and result is not source:
        if line := _find_later_binding(source_name):
            since = gettext(
                "since `{line}`, `{name}` is another tensor.", line=line, name=source_name
            )
            no = join_sentences([since, no])
        else:
            no = _begin_with_cut(
                no, lambda variables: _does_lead(variables[result_name], variables[source_name])
            )
    return CheckedFact(does_lead, no, yes)


def _does_lead(result: Any, source: Any) -> bool:
    # Both in one snapshot: ids of nodes are compared, which each snapshot gives anew.
    return snapshot(result=result, source=source).leads_to("result", "source")


@_require_tensors
def leads_back_once(**named: Any) -> CheckedFact:
    """A single way leads through the nodes behind one tensor to another."""
    (result_name, result), (source_name, source) = named.items()
    number = _count_ways(result.grad_fn, source, {})
    no = ngettext(
        "{number} path leads from `{result}` back to `{source}`: let the gradient through "
        "one of them.",
        "{number} paths lead from `{result}` back to `{source}`: let the gradient through "
        "one of them.",
        number,
        result=result_name,
        source=source_name,
    )
    return CheckedFact(number == 1, no)


def _count_ways(node: Any, leaf: Any, counts: dict[Any, int]) -> int:
    """Return how many ways lead from a node to a leaf; `counts` has those of nodes seen before."""
    # A leaf is found at its AccumulateGrad, which each way to it ends in.
    if node is None or getattr(node, "variable", None) is leaf:
        return int(node is not None)
    # Each node once: where ways part and meet in each of thirty layers, there are 2 ** 30 of them.
    if node not in counts:
        counts[node] = sum(_count_ways(behind, leaf, counts) for behind, _ in node.next_functions)
    return counts[node]


@_require_tensors
def sends_gradient(expected: Any, **named: Any) -> CheckedFact:
    """The gradient that one tensor gives another is this: nobody has set `.grad` by hand.

    It is computed once more, which is not possible after a backward that freed what it needs, and
    not done where that would run code of the learner's: a hook that counts its calls counts one
    more. A program that keeps the graph may go through it several times: then what adds up is right.
    """
    (result_name, result), (source_name, source) = named.items()
    # What cannot be found out is not held against an answer: the other facts of the check decide.
    if not _can_run_backward_unseen(result):
        return CheckedFact(True, "")
    torch: Any = engine_for({}, result)
    retained_gradients = RetainedGradients(torch)
    if not retained_gradients.can_restore(result):
        return CheckedFact(True, "")
    arrived = _list_arrived_gradients(result_name)
    try:
        # `retain_graph`: the learner may call backward after the check. `.grad` of leaves is not
        # touched by `grad`, that of results with `retain_grad` is.
        (gradient,) = torch.autograd.grad(result, source, retain_graph=True)
        if arrived and not _adds_up(values(gradient), expected):
            # What the program itself gave to the result: its `backward` may have been called with
            # a gradient, several times, or on what was computed from the result.
            given = torch.tensor(values(sum(arrived))).to(result.dtype).reshape(result.shape)
            (gradient,) = torch.autograd.grad(result, source, given, retain_graph=True)
    # The source was not used, say, of which `graph_leads_back` has a sentence.
    except RuntimeError:
        return CheckedFact(True, "")
    finally:
        # A look changes nothing, and this has added to them.
        retained_gradients.restore()
    no = gettext(
        "through `{result}`, `{source}` gets the gradient {value}; it should be {right}.",
        result=result_name,
        source=source_name,
        value=quote_number(values(gradient)),
        right=quote_number(expected),
    )
    # Of a gradient that is passed in a program that cannot run again, the numbers are not known.
    is_unknown = arrived is None and _passes_gradient(_source_of_answer.get())
    return CheckedFact(is_unknown or _adds_up(values(gradient), expected), no)


def _list_arrived_gradients(name: str) -> list[Any] | None:
    """Return the gradients that come to a result while its program runs; None if that cannot be known.

    They are counted by a hook in a second run. A name that is tied to several results has none
    known.
    """
    bindings = list_bindings(_cells_of_answer.get(), name)
    if len(bindings) != 1:
        return None
    line = ast.unparse(bindings[0])
    # `append` returns None, so that the gradient stays as it is.
    hook = f"_gradients = []; {name}.register_hook(_gradients.append)"
    gradients: list[Any] | None = _run_changed_program(line, f"{line}; {hook}").get("_gradients")
    return gradients


def _adds_up(gradient: Any, expected: Any) -> bool:
    """Return True if one backward gives the gradient that is expected, or several of a kept graph."""
    # Up to ten: a loop that keeps the graph goes through it a few times.
    counts = range(1, 11) if _keeps_graph(_source_of_answer.get()) else (1,)
    return any(_are_close(_multiply_numbers(gradient, count), expected) for count in counts)


def _multiply_numbers(numbers: Any, count: int) -> Any:
    if isinstance(numbers, list):
        return [_multiply_numbers(number, count) for number in numbers]
    return numbers if numbers is None else numbers * count


def _can_run_backward_unseen(result: Any) -> bool:
    """Return True if a backward on a tensor finds all it needs, and calls nothing of the learner's."""
    look = snapshot(result=result)
    # Of hooks, torch says only that there are some in the process.
    if look.doubts or any(node.doubts for node in look.nodes):
        return False
    saved_by_nodes = chain.from_iterable(node.saved for node in look.nodes)
    return not any(saved.state in ("freed", "packed") for saved in saved_by_nodes)


_source_of_answer = ContextVar("source of the answer", default="")
_cells_of_answer = ContextVar("cells of the answer, one or more", default="")


@contextlib.contextmanager
def know_source(source: str, *, is_one_cell: bool = True) -> Iterator[None]:
    """Let facts know the program that is judged: not everything can be told from tensors.

    is_one_cell: False if its lines were run as several cells. One of them may have made anew what
        another had made, so that only a run of them all says something.
    """
    token = _source_of_answer.set(source if is_one_cell else "")
    token_of_cells = _cells_of_answer.set(source)
    try:
        yield
    finally:
        _source_of_answer.reset(token)
        _cells_of_answer.reset(token_of_cells)


def _keeps_graph(source: str) -> bool:
    """Return True if a program calls `backward` with `retain_graph`, other than False."""
    keywords_of_calls = [call.keywords for call in _list_backward_calls(source)]
    return any(
        keyword.arg == "retain_graph" and ast.unparse(keyword.value) != "False"
        for keyword in chain.from_iterable(keywords_of_calls)
    )


def _passes_gradient(source: str) -> bool:
    """Return True if a program calls `backward` with a gradient, other than None."""
    return any(map(_has_gradient, _list_backward_calls(source)))


def _has_gradient(call: ast.Call) -> bool:
    """Return True if a call of `backward` has a gradient: its first argument, or behind the tensors."""
    position = 1 if ast.unparse(call.func).endswith("autograd.backward") else 0
    names = ("gradient", "grad_tensors")
    given = call.args[position : position + 1]
    given += [keyword.value for keyword in call.keywords if keyword.arg in names]
    return any(ast.unparse(gradient) != "None" for gradient in given)


def _list_backward_calls(source: str) -> list[ast.Call]:
    """Return the calls of `backward` in a program; none of a cell with a magic."""
    calls = [node for node in _list_syntax_nodes(source) if isinstance(node, ast.Call)]
    return [call for call in calls if _calls_backward(call)]


def left_grad_to_backward(**named: Any) -> CheckedFact:
    """The program, where it is known, has `.grad` of a tensor from `backward`, not from a line of its own.

    What it writes before it calls `backward` is no matter, nor is a reset, which another cell may
    go on from.
    """
    ((name, _),) = named.items()
    try:
        nodes = list(ast.walk(ast.parse(_source_of_answer.get())))
    except SyntaxError:  # a cell with a magic
        return CheckedFact(True, "")
    # By lines, and not by what ran: a fact sees the variables as they are at the end.
    last_backward = max(
        (node.lineno for node in nodes if isinstance(node, ast.Call) and _calls_backward(node)),
        default=0,
    )
    lines = [node for node in nodes if isinstance(node, ast.stmt | ast.expr)]
    last_write = max(
        (node.lineno for node in lines if _writes_grad(node, f"{name}.grad")), default=0
    )
    no = gettext(
        "line {line} of your cell writes `{name}.grad` itself: leave that to `backward`, which adds "
        "each gradient to `{name}.grad`.",
        line=last_write,
        name=name,
    )
    return CheckedFact(last_write <= last_backward, no)


def _close_brackets(code: str) -> str:
    """Return the beginning of a call for a sentence: `tensor(0.5` as `tensor(0.5, ...)`."""
    is_open = code.count("(") > code.count(")")
    return f"{code}, ...)" if is_open else code


def follows_numbers(before: str, after: str, check_fact: Callable[..., CheckedFact]) -> CheckedFact:
    """The program, run with `after` in place of `before`, has the fact of its variables there.

    So numbers that were typed in are told from those of the program, also where the cell with
    `before` is another one. Where the program is not known, does not have `before`, or works with
    more than its own names, that is not held against it.
    """
    variables = _run_changed_program(before, after)
    takes = inspect.signature(check_fact).parameters
    if not takes.keys() <= variables.keys():
        return CheckedFact(True, "")
    fact = check_fact(**{name: variables[name] for name in takes})
    no = gettext(
        "your cell is right for these numbers alone: with `{after}` instead of `{before}`, {why} "
        "Take the numbers from the program.",
        after=_close_brackets(after),
        before=_close_brackets(before),
        why=fact.no,
    )
    # A right answer is not told: whoever reads of a second run looks for something to do.
    return CheckedFact(fact.holds, no)


def _run_changed_program(before: str, after: str) -> Mapping[str, Any]:
    """Return the variables of the program with `after` in place of `before`; none if it cannot run."""
    source = _cells_of_answer.get()
    if not is_self_contained(source):
        return {}
    # Without comments, which may have `before` as well, and written as `before` is.
    source = ast.unparse(ast.parse(source))
    if source.count(before) != 1:
        return {}
    # In names of its own: the variables that the learner has stay as they are.
    attempt = run_attempt("", source.replace(before, after), engine_for({}))
    return {} if attempt.error else attempt.variables


def has_no_history_in_loop(**named: Any) -> CheckedFact:
    """The program, where it is known, does not let a tensor gather a history in a loop and cut it off behind."""
    ((name, _),) = named.items()
    source = _cells_of_answer.get()
    if not is_self_contained(source):
        return CheckedFact(True, "")
    body = ast.parse(source).body
    loops = [place for place, statement in enumerate(body) if isinstance(statement, ast.For)]
    up_to_loop = ast.Module(body[: loops[-1] + 1 if loops else 0], [])
    gathered = run_attempt("", ast.unparse(up_to_loop), engine_for({})).variables.get(name)
    no = gettext(
        "`{name}` loses its history only behind the loop: in the loop it grows with every round.",
        name=name,
    )
    return CheckedFact(not getattr(gathered, "requires_grad", False), no)


def brought_gradients(expected: Sequence[Any], line: str, **named: Any) -> CheckedFact:
    """The program, where it is known, brings a leaf these gradients, one after another.

    line: that which makes the leaf. A reset leaves nothing of a gradient that was wrong.
    """
    ((name, _),) = named.items()
    gradients = _list_gradients_of_leaf(name, line)
    # A hook is called with numbers that are compared here, whatever `.grad` becomes.
    found = None if gradients is None else [values(gradient) for gradient in gradients]
    no = gettext(
        "in the rounds, `backward` brought `{name}` the gradients {found}; they should be {right}.",
        name=name,
        found=quote_number(found),
        right=quote_number(list(expected)),
    )
    return CheckedFact(found is None or _are_close(found, list(expected)), no)


def _list_gradients_of_leaf(name: str, line: str) -> list[Any] | None:
    """Return the gradients that come to the leaf of a line while the program runs again; None if that is not known."""
    # `append` returns None, so that the gradient stays as it is.
    hook = f"_gradients = []; {name}.register_hook(_gradients.append)"
    gradients: list[Any] | None = _run_changed_program(line, f"{line}; {hook}").get("_gradients")
    return gradients


def uses_variable(**named: Any) -> CheckedFact:
    """The program, where it is known, computes with a variable: what it should get from it is not typed in."""
    ((name, _),) = named.items()
    source = _cells_of_answer.get()
    # Other cells may have used it.
    nodes = _list_syntax_nodes(source) if is_self_contained(source) else []
    # What is only printed gives nothing.
    printed: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
            printed.update(ast.walk(node))
    names = [node for node in nodes if isinstance(node, ast.Name) and node not in printed]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    written = {ast.unparse(node.target) for node in nodes if isinstance(node, ast.AugAssign)}
    no = gettext(
        "no line of your cell uses `{name}`. Take the numbers from the program.", name=name
    )
    return CheckedFact(not nodes or name in read | written, no)


def is_still_of_line(line: str, **named: Any) -> CheckedFact:
    """A name is still tied to the object that a line of the program tied it to.

    A second run tells. Where the program is not known, or has no such line, that is not held
    against it.
    """
    ((name, _),) = named.items()
    variables = _run_changed_program(line, f"{line}; _at_first = {name}")
    no = gettext(
        "`{name}` is another tensor than the one that `{line}` makes.", name=name, line=line
    )
    return CheckedFact(variables.get(name) is variables.get("_at_first"), no)


def got_gradients(least: int, line: str, **named: Any) -> CheckedFact:
    """At least so many gradients came to a leaf that a line of the program makes.

    They are counted by a hook in a second run. Where the program is not known, or has no such
    line, that is not held against it.
    """
    ((name, _),) = named.items()
    gradients = _list_gradients_of_leaf(name, line)
    count = len(gradients or ())
    no = ngettext(
        "`backward` brought `{name}` {number} gradient; it should bring {least}, one in each round.",
        "`backward` brought `{name}` {number} gradients; it should bring {least}, one in each round.",
        count,
        name=name,
        least=least,
    )
    return CheckedFact(gradients is None or count >= least, no)


def warn_of_data() -> CheckedFact:
    """The fact that always holds, with a word to a program that asks for `.data`, where it is known."""
    nodes = _list_syntax_nodes(_source_of_answer.get())
    has_data = any(map(_is_data, nodes))
    yes = gettext(
        "`.data` passes here. It has a version counter of its own: the tensor that it was taken from "
        "does not count a write through it. It counts one through `detach()`."
    )
    if any(map(_writes_data, nodes)):
        yes = gettext(
            "The write through `.data` does no harm here, but no version counter counts it: where a "
            "node has saved the old numbers, `backward` takes the new ones, and no error is raised. "
            "A write inside `no_grad` is counted."
        )
    return CheckedFact(True, "", yes if has_data else "", is_told=has_data)


def recommend_clone() -> CheckedFact:
    """The fact that always holds, with a word to a program that computes a copy, as `a * 1` does."""
    nodes = _list_syntax_nodes(_source_of_answer.get())
    copies = [ast.unparse(node) for node in nodes if _computes_copy(node)]
    yes = gettext(
        "`{code}` has cells of its own, as the result of every operation has. Where you only want a "
        "copy, write `clone`, which says so.",
        code=copies[0] if copies else "",
    )
    return CheckedFact(True, "", yes if copies else "", is_told=bool(copies))


def recommend_detached_clone(**named: Any) -> CheckedFact:
    """The fact that always holds, with a word to a program that calls `torch.tensor` with a tensor, which warns."""
    ((name, _),) = named.items()
    nodes = _list_syntax_nodes(_source_of_answer.get())
    is_called = any(ast.unparse(node) == f"torch.tensor({name})" for node in nodes)
    yes = gettext(
        "`torch.tensor({name})` copies, and warns: `{name}.detach().clone()` does the same without a warning.",
        name=name,
    )
    return CheckedFact(True, "", yes if is_called else "", is_told=is_called)


def recommend_freed_graph() -> CheckedFact:
    """The fact that always holds, with a word to a program that keeps a graph and runs without that, too."""
    is_needless = bool(_run_changed_program("backward(retain_graph=True)", "backward()"))
    yes = gettext(
        "The program runs without `retain_graph=True`, too: no `backward` needs what an earlier one would free."
    )
    return CheckedFact(True, "", yes if is_needless else "", is_told=is_needless)


_NEUTRAL_NUMBERS: Mapping[type[ast.operator], int] = {
    ast.Mult: 1,
    ast.Div: 1,
    ast.Add: 0,
    ast.Sub: 0,
}
"""The number that changes nothing, by the operator."""


def _computes_copy(node: ast.AST) -> bool:
    """Return True if an operation gives the numbers that it takes, as `a * 1` and `0 + a`."""
    if not isinstance(node, ast.BinOp):
        return False
    neutral = _NEUTRAL_NUMBERS.get(type(node.op))
    operands = [node.right] if isinstance(node.op, ast.Sub | ast.Div) else [node.left, node.right]
    constants = [each.value for each in operands if isinstance(each, ast.Constant)]
    return neutral is not None and neutral in constants


def _list_syntax_nodes(source: str) -> list[ast.AST]:
    """Return the nodes of a program's syntax tree; none of a cell with a magic."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    return list(ast.walk(tree)) if tree.body else []


def _is_data(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "data"


def _writes_data(node: ast.AST) -> bool:
    """Return True if a statement or a call writes through `.data`, or gives it another tensor."""
    return any(map(_is_data, _list_written_places(node)))


def _writes_data_of(node: ast.AST, name: str) -> TypeGuard[ast.stmt | ast.expr]:
    """Return True if a statement or a call does that to the `.data` of a tensor of this name."""
    written = [ast.unparse(place) for place in _list_written_places(node)]
    return f"{name}.data" in written


def _list_written_places(node: ast.AST) -> list[ast.expr]:
    """Return what a statement or a call writes into, with what that is a part of."""
    places: list[ast.expr] = []
    # A method in place, and not a dunder such as `__setitem__`.
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr.endswith("_") and not node.func.attr.endswith("__"):
            places = [node.func.value]
    elif isinstance(node, ast.Assign):
        places = node.targets
    elif isinstance(node, ast.AugAssign):
        places = [node.target]
    return list(itertools.chain.from_iterable(map(_list_owners, places)))


def _list_owners(place: ast.expr) -> list[ast.expr]:
    """Return `w.data[0]`, `w.data` and `w` for the first of them."""
    owners = [place]
    while isinstance(owners[-1], ast.Attribute | ast.Subscript):
        owners.append(owners[-1].value)
    return owners


def _explain_lack_of_backward(source: str) -> str:
    """Say that a program, where it is known, computes no gradient by a call of its own; empty if it does."""
    nodes = _list_syntax_nodes(source)
    if not nodes or any(isinstance(node, ast.Call) and _calls_backward(node) for node in nodes):
        return ""
    for node in nodes:
        match node:
            case ast.Expr(ast.Attribute(attr="backward") as method):
                return gettext("`{code}` without `()` calls nothing.", code=ast.unparse(method))
    return gettext("no line of your cell calls `backward`.")


def _calls_backward(call: ast.Call) -> bool:
    return ast.unparse(call.func).endswith("backward")


def _writes_grad(node: ast.AST, name: str) -> bool:
    """Return True if a statement gives a gradient other numbers, or a call writes them in place."""
    if isinstance(node, ast.Call):
        owner, _, method = ast.unparse(node.func).rpartition(".")
        return owner == name and method.endswith("_") and method != "zero_"
    if isinstance(node, ast.Assign):
        places: list[ast.expr] = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        places = [node.target]
    else:
        return False
    is_reset = node.value is not None and ast.unparse(node.value) == "None"
    return not is_reset and any(ast.unparse(place).partition("[")[0] == name for place in places)


@_require_tensors
def was_gone_through(**named: Any) -> CheckedFact:
    """A backward went through the nodes behind a tensor.

    It may have kept what they saved, with `retain_graph=True`, which no tensor tells from a backward
    that never was. The program does, where it is known, and is believed.
    """
    return CheckedFact(True, "") if _keeps_graph(_source_of_answer.get()) else was_freed(**named)


def frees_graph() -> CheckedFact:
    """The program, where it is known, calls no `backward` with `retain_graph`."""
    no = gettext("your cell calls `backward` with `retain_graph`. Call it without.")
    return CheckedFact(not _keeps_graph(_source_of_answer.get()), no)


@_require_tensors
def was_freed(**named: Any) -> CheckedFact:
    """A backward went through the nodes behind a tensor, and freed what they had saved.

    Nothing tells one that kept it from none: the sentence says both, where the program is not known.
    """
    ((name, tensor),) = named.items()
    return CheckedFact(not keeps_saved(tensor), _explain_kept_graph(name, _source_of_answer.get()))


def _explain_kept_graph(name: str, source: str) -> str:
    """Say why the nodes behind a tensor have what they saved, after the program of a source."""
    if _keeps_graph(source):
        return gettext(
            "your cell calls `backward` with `retain_graph`, so the nodes behind `{name}` keep what "
            "they saved. Call `backward` without `retain_graph`.",
            name=name,
        )
    if why := _explain_lack_of_backward(source):
        through = gettext("So no gradient went through the nodes behind `{name}`.", name=name)
        return join_sentences([why, through])
    calls = _list_backward_calls(source)
    if not calls:
        return gettext(
            "the nodes behind `{name}` still have what they saved: no `backward` went through them, "
            "or `retain_graph=True` kept it. Call `backward` without `retain_graph`.",
            name=name,
        )
    last = max(list_bindings(source, name), key=lambda node: node.lineno, default=None)
    if last is not None and last.lineno > max(call.lineno for call in calls):
        return gettext(
            "line {line} of your cell, `{code}`, gives `{name}` another tensor after the call of "
            "`backward`, and no gradient went through the nodes behind this one. Call `backward` "
            "after that line.",
            line=last.lineno,
            code=ast.unparse(last),
            name=name,
        )
    return gettext(
        "the nodes behind `{name}` still have what they saved: no `backward` of your cell went "
        "through them.",
        name=name,
    )


def walk_nodes(tensor: Any) -> Iterator[Any]:
    """Yield every node behind a tensor, each once, its own first."""
    waiting, visited = [tensor.grad_fn], set()
    for node in waiting:  # it grows while we go on
        # `waiting` keeps each node alive, so that no other one gets its id.
        if node is not None and id(node) not in visited:
            visited.add(id(node))
            waiting += [next_node for next_node, _ in node.next_functions]
            yield node


def has_grad(expected: Any, **named: Any) -> CheckedFact:
    """A tensor's `.grad` has these values."""
    ((name, tensor),) = named.items()
    gradient = grad(tensor)
    yes = gettext("`{name}.grad` is {value}.", name=name, value=quote_number(gradient))
    # The usual reason, which PyTorch's warning names and no answer shows.
    if gradient is None and not tensor.is_leaf:
        no = gettext(
            "`{name}.grad` is None: a result keeps its gradient only if `retain_grad()` was called "
            "before `backward()`.",
            name=name,
        )
        return CheckedFact(False, no, yes)
    if not tensor.is_leaf and not tensor.retains_grad:
        no = gettext(
            "`{name}.grad` was set by hand: a result keeps its gradient only if `retain_grad()` was "
            "called before `backward()`.",
            name=name,
        )
        return CheckedFact(False, no, yes)
    no = gettext(
        "`{name}.grad` is {value}; it should be {right}.",
        name=name,
        value=quote_number(gradient),
        right=quote_number(expected),
    )
    if gradient is None:
        why = _explain_lack_of_backward(_source_of_answer.get())
        if not why and (line := _find_later_binding(name)):
            why = gettext("since `{line}`, `{name}` is another tensor.", line=line, name=name)
        no = join_sentences(filter(None, [why, no]))
    return CheckedFact(_are_close(gradient, expected), no, yes)


@_require_tensors
def was_written(least: int = 1, **named: Any) -> CheckedFact:
    """A tensor's version counter has counted at least so many writes."""
    ((name, tensor),) = named.items()
    version = version_of(tensor)
    if (version or 0) >= least:
        return CheckedFact(
            True, "", gettext("`{name}._version` is {version}.", name=name, version=version)
        )
    no = gettext(
        "`{name}._version` is {version}; it should be at least {least}.",
        name=name,
        version=version,
        least=least,
    )
    return CheckedFact(False, join_sentences([_explain_low_version(name), no]))


def _explain_low_version(name: str) -> str:
    """Say why a counter has counted less writes than it should."""
    if line := _find_later_binding(name):
        return gettext("since `{line}`, `{name}` is another tensor.", line=line, name=name)
    nodes = _list_syntax_nodes(_source_of_answer.get())
    lines = [node.lineno for node in nodes if _writes_data_of(node, name)]
    if lines:
        return gettext(
            "line {line} of your cell writes through `.data`, and the counter of `{name}` does not count that.",
            line=max(lines),
            name=name,
        )
    return gettext(
        "the counter of `{name}` does not count a write through `.data`, through NumPy or into another tensor.",
        name=name,
    )


def list_bindings(source: str, name: str) -> list[ast.Assign]:
    """Return the assignments of a program that tie a name to an object."""
    nodes = _list_syntax_nodes(source)
    assignments = [node for node in nodes if isinstance(node, ast.Assign)]
    return [node for node in assignments if _binds_name(node, name)]


def _find_later_binding(name: str) -> str:
    """Return the last line that ties a name to another object than it had; empty if none is known."""
    bindings = list_bindings(_cells_of_answer.get(), name)
    if not bindings:
        return ""
    line = ast.unparse(max(bindings, key=lambda node: node.lineno))
    # The name had nothing before its first line, which then raises: that is no other tensor.
    variables = _run_changed_program(line, f"_before = {name}; {line}")
    return "" if variables.get(name) is variables.get("_before") else line


def _binds_name(assignment: ast.Assign, name: str) -> bool:
    targets = assignment.targets
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


@_require_tensors
def was_left_alone(**named: Any) -> CheckedFact:
    """No write into these tensors was counted, not even one that was taken back."""
    for name, tensor in named.items():
        if version := version_of(tensor):
            no = gettext(
                "`{name}._version` is {version}; it should be 0: `{name}` was written to, although "
                "it shows its old numbers again.",
                name=name,
                version=version,
            )
            return CheckedFact(False, no)
    return CheckedFact(True, "")


def _are_close(found: Any, expected: Any) -> bool:
    """Compare (nested) lists of numbers; unlike in a prediction's answer, [2] is not 2."""
    return _nesting_of_lists(found) == _nesting_of_lists(expected) and is_same_answer(
        found, _to_floats(expected)
    )


def _nesting_of_lists(value: Any) -> Any:
    return [_nesting_of_lists(item) for item in value] if isinstance(value, list | tuple) else None


def _to_floats(value: Any) -> Any:
    """Return the numbers as floats, which are compared with a tolerance."""
    if isinstance(value, list | tuple):
        return [_to_floats(item) for item in value]
    return float(value)
