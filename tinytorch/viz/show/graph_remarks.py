"""What a graph picture says: the one list that its text and its drawing are rendered from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from ..diagnose import (
    Changes,
    Refusal,
    add_lines_that_wrote,
    find_refusals_of_snapshot,
    find_stale_saved,
    name_maybe_writers,
    phrase_consequence,
    phrase_lines_that_wrote,
    phrase_refusal,
    phrase_versions_then_and_now,
)
from ..read import NodeRecord, SavedRecord, Snapshot, TensorRecord
from ..wording import (
    cut_middle,
    escape_name,
    escape_unseen,
    format_value,
    gettext,
    join_few_names,
    join_names,
    join_phrases,
    ngettext,
    short_node_name,
    shorten_text,
)
from .contents import (
    FoldEntry,
    FreedEntry,
    GraphContents,
    GraphEdge,
    NamedTensor,
    NodeEntry,
    NumberEntry,
    OutsideEntry,
    Remark,
    RemarkKind,
)
from .graph_cuts import FreedCut, GraphCut, find_cuts
from .graph_flow import find_flow
from .number_reads import NumberRead
from .select_nodes import FOLD_ABOVE, MOST_LEAVES, NodeFold, NodeSelection, has_noted_modules
from .sentences import (
    GRAPH_FACTS,
    MOST_LISTED,
    list_changes,
    list_changes_in_fold,
    list_new_names,
    list_rebound_names,
    select_saved,
    state_before,
    title_of_fold,
)

MOST_KINDS = 4
"""How many kinds of nodes the card of a fold has."""
MOST_LOOSE = 6
"""More leaves without a graph than this have one line."""
MOST_GRAD_VALUES, GRAD_COLUMNS = 4, 20
"""A gradient of more values, or of longer ones, is not written beside its tensor."""
SAVED_COLUMNS = 14
"""How many columns of a card an attribute of a node (`self`) may have, of the 36 of a line (`REMARK_COLUMNS`
in `render/graph_cards.py`)."""
LABEL_COLUMNS = 20
"""How many columns of a card the label of what was saved may have. Words behind it have the rest of the line."""
_KIND_BY_STATE: dict[str, RemarkKind] = {"stale": "raises", "changed unseen": "changed unseen"}
"""Of what the nodes of a fold saved: all other states are counted without a sign."""


class LineFacts(NamedTuple):
    """What the line of a step tells of its graph; without it nothing is known of that."""

    root: object = None
    """The key of the node that a backward began at, or None; see `find_flow`."""
    reads: Sequence[NumberRead] = ()
    """What has the numbers of a tensor alone; see `find_number_reads`."""
    expressions: Mapping[str, str] = {}
    """What made the tensors without a name; see `find_expressions`."""


def describe_graph(
    changes: Changes,
    selection: NodeSelection,
    wrong_nodes: Collection[object] = (),
    line: LineFacts | None = None,
    freed_cuts: Sequence[FreedCut] = (),
    subject: str = "",
) -> GraphContents:
    """Make everything that a graph picture says of a snapshot, with what changed in it.

    `wrong_nodes` has the keys of nodes whose gradient is wrong: the step player has them from
    `blame_lines`, and no other caller knows. `freed_cuts`: see `find_freed_cuts`.
    `subject`: the id of the tensor that was asked for first: it is drawn, also off the graph.
    """
    is_alone = line is None and changes.since is None
    describer = _GraphDescriber(
        changes,
        selection,
        wrong_nodes,
        line or LineFacts(),
        freed_cuts,
        subject,
        is_alone=is_alone,
    )
    return describer.describe()


class _GraphDescriber:
    """Describes one selection of a graph; holds what all entries need."""

    def __init__(
        self,
        changes: Changes,
        selection: NodeSelection,
        wrong_nodes: Collection[object],
        line: LineFacts,
        freed_cuts: Sequence[FreedCut],
        subject: str,
        *,
        is_alone: bool,
    ) -> None:
        self.changes, self.snap, self.selection = changes, changes.now, selection
        self.wrong_nodes, self.reads, self.freed_cuts = wrong_nodes, line.reads, freed_cuts
        self.expressions, self.subject = line.expressions, subject
        self.is_alone = is_alone
        """True for a picture of one moment: what was before it is not known."""
        self.flow = find_flow(changes, line.root)
        self.maybe_written = name_maybe_writers(changes.now)
        """(node id, tensor id) -> the names through which it may have been changed unseen."""
        self.refusals: dict[str, list[Refusal]] = {}
        for refusal in find_refusals_of_snapshot(self.snap):
            self.refusals.setdefault(refusal.node.id, []).append(refusal)
        self.leaf_ids: dict[str, None] = {}
        for entry in selection.entries:
            if isinstance(entry, NodeRecord) and entry.variable is not None:
                self.leaf_ids[entry.variable] = None
        # Beside a leaf with a .grad, one without is worth a word.
        self.has_grads = any(self.snap.tensor(leaf).grad for leaf in self.leaf_ids)

    def describe(self) -> GraphContents:
        """Make the contents of the picture."""
        snap, selection = self.snap, self.selection
        without_graph, off_graph = self._sort_tensors_without_node()
        cuts, numbers, freed_cuts = self._select_beside_nodes()
        listed_tensors = self._list_for_text()
        outside, outside_edges = self._describe_outside()
        edges = list(chain.from_iterable(map(self._edges_of, selection.entries)))
        cut_off: dict[str, None] = {}
        for cut in cuts:
            cut_off[cut.tensor] = None
            edges += self._edges_of_cut(cut)
        freed_ids: list[str] = []
        for freed_cut in freed_cuts:
            is_tensor_gone = freed_cut.tensor not in cut_off
            edges += self._edges_of_freed_cut(freed_cut, is_tensor_gone=is_tensor_gone)
            if is_tensor_gone:
                freed_ids.append(freed_cut.tensor)
        edges += [GraphEdge(entry.id, card, "copied") for entry, card in numbers]
        # Too many leaves without a graph have no card each, but one line below the cards.
        with_card, in_line = without_graph, list[TensorRecord]()
        if len(without_graph) > MOST_LOOSE:
            with_card, in_line = [], without_graph
        with_card = [tensor for tensor in with_card if tensor.id not in cut_off]
        off_graph = [tensor for tensor in off_graph if tensor.id not in cut_off]
        subjects, in_aside = self._split_off_graph(off_graph)
        cards_of_cuts = [tensor_id for tensor_id in cut_off if tensor_id not in self.leaf_ids]
        return GraphContents(
            title=_title_of_graph(snap),
            heading=_heading_of_graph(snap, without_graph),
            summary=_summarize_graph(
                self.changes, len(self.flow), len([*cuts, *numbers, *freed_ids])
            ),
            listed=self._describe_all(listed_tensors),
            not_listed=self._phrase_not_listed(listed_tensors),
            entries=tuple(map(self._describe_entry, selection.entries)),
            leaves=self._describe_all(snap.tensor(leaf) for leaf in self.leaf_ids),
            without_graph=self._describe_all(with_card),
            cut_off=self._describe_all(map(snap.tensor, cards_of_cuts)),
            freed_cuts=tuple(map(self._describe_freed, dict.fromkeys(freed_ids))),
            numbers=tuple(entry for entry, _ in numbers),
            subjects=self._describe_all(subjects),
            asides=tuple(self._list_asides(in_line, in_aside)),
            outside=outside,
            edges=(*edges, *outside_edges),
            notes=(*_list_notes(self.changes, selection), *self._note_unseen_readers(cuts)),
            is_unfolded=selection.is_unfolded,
            keys={node.id: node.key for node in snap.nodes},
            has_folded_tensors=bool(selection.folded_tensors),
        )

    # -- tensors -------------------------------------------------------------------

    def _sort_tensors_without_node(self) -> tuple[list[TensorRecord], list[TensorRecord]]:
        """Sort the named tensors that no node here made or adds to: leaves, and those off the graph."""
        without_graph: list[TensorRecord] = []
        off_graph: list[TensorRecord] = []
        # Each tensor has one card: leaves are below their accumulators, others in a fold.
        drawn_elsewhere = {*self.leaf_ids, *self.selection.folded_tensors}
        for tensor in self.snap.named_tensors:
            if tensor.id in drawn_elsewhere or tensor.grad_fn is not None:
                continue
            # In an opened fold, these belong to the picture around it.
            if self.selection.outside:
                continue
            if tensor.requires_grad:
                without_graph.append(tensor)
            else:
                off_graph.append(tensor)
        return without_graph, off_graph

    def _split_off_graph(
        self, off_graph: Iterable[TensorRecord]
    ) -> tuple[list[TensorRecord], list[TensorRecord]]:
        """Return the one that was asked for first, if it is there, and those that one line names."""
        subjects: list[TensorRecord] = []
        others: list[TensorRecord] = []
        for tensor in off_graph:
            # Without a node the heading says all that there is to say.
            is_subject = self.snap.nodes and tensor.id == self.subject
            (subjects if is_subject else others).append(tensor)
        return subjects, others

    def _list_asides(
        self, loose: Sequence[TensorRecord], off_graph: Sequence[TensorRecord]
    ) -> Iterator[str]:
        """Yield the lines on tensors that have no card."""
        # Without a node the heading says all that there is to say.
        if not self.snap.nodes:
            return
        if loose:
            names = join_few_names(self.snap.label(tensor.id) for tensor in loose)
            yield gettext("not reached: {names}", names=names)
        if off_graph:
            names = join_few_names(self.snap.label(tensor.id) for tensor in off_graph)
            yield gettext("requires_grad=False, so not on the graph: {names}", names=names)

    def _find_entry_of_tensor(self, tensor_id: str) -> str | None:
        """Return the id of the entry or card where a tensor on the graph is drawn."""
        tensor = self.snap.tensor(tensor_id)
        if tensor.grad_fn is not None:
            return self.selection.entry_of.get(tensor.grad_fn)
        if tensor_id in self.leaf_ids:
            return tensor_id
        for entry in self.selection.entries:
            if isinstance(entry, NodeFold) and tensor_id in entry.leaves:
                return entry.id
        return None

    def _select_beside_nodes(
        self,
    ) -> tuple[list[GraphCut], list[tuple[NumberEntry, str]], list[FreedCut]]:
        """Return what is drawn beside the nodes: cuts, numbers that were read, and cuts that were freed."""
        if self.selection.outside:
            # In an opened fold, these belong to the picture around it.
            return [], [], []
        return self._select_cuts(), self._select_numbers(), self._select_freed_cuts()

    def _select_cuts(self) -> list[GraphCut]:
        if not self.snap.nodes:
            return []
        cuts = find_cuts(self.snap, self.reads)
        return [cut for cut in cuts if self._find_entry_of_tensor(cut.source)]

    def _select_freed_cuts(self) -> list[FreedCut]:
        with_source = (cut for cut in self.freed_cuts if self._find_entry_of_tensor(cut.source))
        return [cut for cut in with_source if self._list_savers(cut)]

    def _note_unseen_readers(self, cuts: Iterable[GraphCut]) -> Iterator[str]:
        """Yield that nothing is known of who read what is cut off, where a backward has freed it."""
        unseen = [cut.tensor for cut in cuts if not cut.savers]
        # An earlier moment would have shown who read it.
        if not self.is_alone or not unseen or not any(map(_may_have_read_cut, self.snap.nodes)):
            return
        names = join_few_names(map(self.snap.label, unseen))
        yield gettext(
            "backward freed what was saved: whether a node read {names} can no longer be seen",
            names=names,
        )

    def _list_savers(self, cut: FreedCut) -> list[str]:
        """List the ids of the entries of the nodes at which a cut is."""
        entry_of = self.selection.entry_of
        nodes = [node.id for node in self.snap.nodes if node.key in cut.savers]
        return list(dict.fromkeys(entry_of[node] for node in nodes if node in entry_of))

    def _select_numbers(self) -> list[tuple[NumberEntry, str]]:
        """Return the numbers that were read from tensors which are drawn, each with that card."""
        found = []
        for read in self.reads:
            card = None if read.tensor else self._find_entry_of_tensor(read.source)
            if card is None:
                continue
            entry = NumberEntry(
                f"number{read.step}",
                f"{escape_name(read.name)} = {read.text}",
                self.snap.label(read.source),
                read.is_new,
            )
            found.append((entry, card))
        return found

    def _list_for_text(self) -> list[TensorRecord]:
        """List the tensors that the text has a line for: of many leaves the first and the changed."""
        folded = self.selection.folded_tensors
        tensors = [tensor for tensor in self.snap.named_tensors if tensor.id not in folded]
        if len(self.snap.named_tensors) <= FOLD_ABOVE or self.selection.is_unfolded:
            return tensors
        # Leaves that changed are listed, however many there are.
        altered = self.changes.new_tensors | self.changes.attribute_changes.keys()
        listed: list[TensorRecord] = []
        leaf_count = 0
        for tensor in tensors:
            if tensor.is_leaf and tensor.id not in altered:
                leaf_count += 1
                if leaf_count > MOST_LEAVES:
                    continue
            listed.append(tensor)
        return listed

    def _phrase_not_listed(self, listed_tensors: Sequence[TensorRecord]) -> str:
        number = len(self.snap.named_tensors) - len(listed_tensors)
        if not number:
            return ""
        return gettext("and {number} more, leaves or folded.", number=f"{number:,}")

    def _describe_all(self, tensors: Iterable[TensorRecord]) -> tuple[NamedTensor, ...]:
        return tuple(map(self._describe_tensor, tensors))

    def _describe_tensor(self, tensor: TensorRecord) -> NamedTensor:
        is_grad_leaf = bool(tensor.is_leaf and tensor.requires_grad)
        facts = self.changes.attribute_changes.get(tensor.id, {})
        names = (
            *list_rebound_names(self.changes, tensor),
            *list_new_names(self.changes, tensor),
        )
        # A node that is new, or a gradient, has signs of its own.
        drawn_facts = [fact for fact in GRAPH_FACTS if fact in ("requires_grad", "shape")]
        return NamedTensor(
            id=tensor.id,
            label=self.snap.label(tensor.id),
            sentence=_origin_of_tensor(tensor),
            has_name=bool(tensor.names),
            grad=self._words_of_grad(tensor),
            is_grad_leaf=is_grad_leaf,
            is_new=tensor.id in self.changes.new_tensors,
            has_new_grad=tensor.grad is not None
            and not facts.keys().isdisjoint(("grad", "values")),
            change_sentences=(*names, *list_changes(self.changes, tensor.id, GRAPH_FACTS)),
            change_captions=(*names, *list_changes(self.changes, tensor.id, drawn_facts)),
            expression="" if tensor.names else self.expressions.get(tensor.id, ""),
        )

    def _describe_freed(self, tensor_id: str) -> FreedEntry:
        return FreedEntry(tensor_id, self.expressions.get(tensor_id, ""))

    def _words_of_grad(self, tensor: TensorRecord) -> str:
        """Return `grad 5.0` with the values of a small .grad, `grad None` beside others that have one."""
        if tensor.grad is None:
            # Before any backward, that no leaf has one goes without saying.
            is_missing = self.has_grads and tensor.id in self.leaf_ids
            if not is_missing:
                return ""
            return gettext("grad None")
        values = self.snap.values(self.snap.tensor(tensor.grad), MOST_GRAD_VALUES)
        words = gettext("grad {values}", values=", ".join(map(format_value, values or ())))
        if not values or len(words) > GRAD_COLUMNS:
            return gettext("has grad")
        return words

    # -- nodes ---------------------------------------------------------------------

    def _describe_entry(self, entry: NodeRecord | NodeFold) -> NodeEntry | FoldEntry:
        if isinstance(entry, NodeFold):
            return self._describe_fold(entry)
        return self._describe_node(entry)

    def _describe_node(self, node: NodeRecord) -> NodeEntry:
        outputs = map(self.snap.tensor, node.tensors)
        results = [tensor for tensor in outputs if tensor.names or tensor.grad is not None]
        return NodeEntry(
            id=node.id,
            name=short_node_name(node.name),
            is_new=node.id in self.changes.new_nodes,
            is_found=node.id in self.selection.found,
            has_wrong_gradient=node.key in self.wrong_nodes,
            is_freed=any(saved.state == "freed" for saved in node.saved),
            flows=node.id in self.flow,
            results=self._describe_all(results),
            remarks=(
                *self._remarks_of_gradient(node),
                *self._remarks_of_edges(node),
                *self._remarks_of_refusals(node),
                *self._remarks_of_saved(node),
            ),
        )

    def _remarks_of_gradient(self, node: NodeRecord) -> Iterator[Remark]:
        """Yield what AccumulateGrad adds to; in the drawing, an arrow leads to the leaf."""
        if node.variable is None:
            return
        has_names = bool(self.snap.tensor(node.variable).names)
        adds = gettext("adds to {grad}", grad=self.snap.grad_label(node.variable))
        if has_names:
            # The line of the name says what is new and what changed.
            yield Remark("gradient", adds)
            return
        if node.variable in self.changes.new_tensors:
            adds = gettext("{what} (new)", what=adds)
        yield Remark("gradient", adds)
        for fact in list_changes(self.changes, node.variable, GRAPH_FACTS):
            yield Remark("gradient changed", fact)

    def _remarks_of_edges(self, node: NodeRecord) -> Iterator[Remark]:
        for index, end in enumerate(node.edges[:MOST_LISTED]):
            target = self._describe_target(end, node.is_reader_stopped)
            yield Remark("edge", f"next_functions[{index}]: {target}")
        if len(node.edges) > MOST_LISTED:
            number = f"{len(node.edges) - MOST_LISTED:,}"
            yield Remark("edge", gettext("next_functions: {number} more", number=number))

    def _describe_target(self, end: str | None, is_reader_stopped: bool = False) -> str:
        """Say where an edge goes: to a node, to nothing, into a fold, or out of an opened one."""
        if end is None and is_reader_stopped:
            return gettext("not read (the graph is too large)")
        if end is None:
            return gettext("None (needs no gradient)")
        entry_id, name = self.selection.entry_of.get(end), short_node_name(self.snap.node(end).name)
        if entry_id is None:
            outside = self.selection.outside[end]
            entry = f"{outside} {name}" if outside == end else outside
            return gettext("{entry}, outside", entry=entry)
        if entry_id == end:
            return f"{end} {name}"
        return gettext("{fold} (folded)", fold=entry_id)

    def _remarks_of_refusals(self, node: NodeRecord) -> Iterator[Remark]:
        for refusal in self.refusals.get(node.id, ()):
            if any(
                saved.refusal and saved.refusal.word() == refusal.sentence for saved in node.saved
            ):
                continue  # it is said beside what was saved
            yield Remark.in_both("raises", phrase_refusal(refusal))

    def _remarks_of_saved(self, node: NodeRecord) -> Iterator[Remark]:
        for index_in_node, saved in select_saved(node):
            writer_names = None
            # The key is the tensor: another entry of this node may have it live, this one stale.
            if saved.state == "live":
                writer_names = self.maybe_written.get((node.id, saved.tensor or ""))
            before = self.changes.earlier_saved.get((node.id, index_in_node))
            yield self._remark_of_state(saved, before, is_doubtful=writer_names is not None)
            if saved.line_to_blame:
                # The text has it in brackets behind the state.
                yield Remark("writing line", "", phrase_lines_that_wrote(saved))
            if writer_names is not None:
                yield Remark(
                    "maybe written",
                    gettext(
                        "perhaps changed unseen, through {names}: backward may be silently wrong",
                        names=writer_names,
                    ),
                    gettext("perhaps changed, through {names}", names=writer_names),
                )
            if before is not None:
                # The text has it in brackets behind the state.
                yield Remark("saved before", "", state_before(before))
        if len(node.saved) > MOST_LISTED:
            number = f"{len(node.saved) - MOST_LISTED:,}"
            yield Remark.in_both("more saved", gettext("and {number} more saved", number=number))
        if node.is_reader_stopped:
            yield Remark("goes on", "", gettext("the graph goes on"))

    def _remark_of_state(
        self, saved: SavedRecord, before: SavedRecord | None, is_doubtful: bool
    ) -> Remark:
        """Return the remark on one thing that was saved: what it is, and the state that it is in."""
        state = _phrase_value_and_state(self.snap, saved)
        if before is not None:
            state = gettext(
                "{sentence} ({addition})", sentence=state, addition=state_before(before)
            )
        kind, caption = _kind_and_caption_of_saved(self.snap, saved)
        if kind == "unchanged" and is_doubtful:
            # A tick beside "perhaps changed unseen" would say the opposite.
            kind = "live"
        sentence = gettext("saved {name}: {state}", name=escape_unseen(saved.name), state=state)
        return Remark(kind, sentence, caption)

    # -- folds ---------------------------------------------------------------------

    def _describe_fold(self, fold: NodeFold) -> FoldEntry:
        title = title_of_fold(fold)
        inside = None
        if fold.inside is not None:
            inside = partial(_describe_inside, self.changes, fold)
        return FoldEntry(
            id=fold.id,
            title=title,
            summary=_summarize_fold(fold, title),
            is_new=self.changes.new_nodes.issuperset(fold.nodes),
            is_found=not self.selection.found.isdisjoint(fold.nodes),
            flows=not self.flow.isdisjoint(fold.nodes),
            remarks=(
                *_remarks_of_kinds(fold, title),
                *self._remarks_of_states(fold),
                *self._remarks_of_tensors(fold),
                *self._remarks_of_changes(fold),
                *self._remarks_of_ends(fold),
            ),
            leaf_labels=tuple(map(self.snap.label, fold.leaves)),
            open=inside,
        )

    def _remarks_of_changes(self, fold: NodeFold) -> Iterator[Remark]:
        for fact in list_changes_in_fold(self.changes, fold):
            yield Remark.in_both("changed", fact)

    def _remarks_of_ends(self, fold: NodeFold) -> Iterator[Remark]:
        for end in fold.ends:
            yield Remark("edge", gettext("goes on to: {node}", node=self._describe_target(end)))

    def _remarks_of_states(self, fold: NodeFold) -> Iterator[Remark]:
        for state, count in fold.states:
            number = f"{count:,}"
            sentence = gettext("saved: {number} {state}", number=number, state=gettext(state))
            yield Remark.in_both(_KIND_BY_STATE.get(state, "count"), sentence)
        nodes = set(fold.nodes)
        count = sum(node in nodes for node, _ in self.maybe_written)
        if count:
            sentence = gettext("saved: {number} perhaps changed unseen", number=f"{count:,}")
            # A count, and no line that belongs to another.
            yield Remark.in_both("count maybe written", sentence)

    def _remarks_of_tensors(self, fold: NodeFold) -> Iterator[Remark]:
        if fold.leaves:
            yield Remark(
                "leaves",
                gettext("leaves: {names}", names=join_few_names(map(self.snap.label, fold.leaves))),
                ngettext("with {number} leaf", "with {number} leaves", len(fold.leaves)),
            )
        if fold.results:
            names = join_few_names(map(self.snap.label, fold.results))
            yield Remark.in_both("results", gettext("made here: {names}", names=names))

    # -- edges ---------------------------------------------------------------------

    def _edges_of(self, entry: NodeRecord | NodeFold) -> list[GraphEdge]:
        """Make the lines from an entry to others."""
        entry_of = self.selection.entry_of
        counts = Counter(entry_of[end] for end in entry.ends if end in entry_of)
        if isinstance(entry, NodeFold):
            # One line to each card, however many nodes lead there.
            return [GraphEdge(entry.id, head, "next") for head in counts]
        edges: list[GraphEdge] = []
        for index, end in enumerate(entry.edges):
            if end is None or end not in entry_of or counts[entry_of[end]] > MOST_LISTED:
                continue
            head = entry_of[end]
            # The number is the index in next_functions; an edge that goes alone needs none.
            label = str(index) if counts[head] > 1 else ""
            edges.append(GraphEdge(entry.id, head, "next", label, self._state_of_edge(entry, end)))
        # Of very many edges to one fold, a single one is drawn.
        for head, count in counts.items():
            if count > MOST_LISTED:
                edges.append(GraphEdge(entry.id, head, "next"))
        if entry.variable is not None:
            state = "flows" if entry.id in self.flow else ""
            edges.append(GraphEdge(entry.id, entry.variable, "leaf", "", state))
        return edges

    def _state_of_edge(self, node: NodeRecord, end: str) -> str:
        if node.id in self.flow and end in self.flow:
            return "flows"
        if any(saved.state == "freed" for saved in node.saved):
            return "freed"
        return ""

    def _edges_of_cut(self, cut: GraphCut) -> Iterator[GraphEdge]:
        """Make the line of a cut, and those from nodes that saved the tensor that is cut off."""
        entry_of = self.selection.entry_of
        source = self._find_entry_of_tensor(cut.source)
        assert source is not None
        # A leaf has its own way to its nodes.
        savers = () if cut.tensor in self.leaf_ids else cut.savers
        for tail in dict.fromkeys(entry_of[node] for node in savers if node in entry_of):
            yield GraphEdge(tail, cut.tensor, "saved")
        yield GraphEdge(cut.tensor, source, "copied" if cut.is_copy else "cut")

    def _edges_of_freed_cut(self, cut: FreedCut, *, is_tensor_gone: bool) -> Iterator[GraphEdge]:
        """Make the lines of a cut that a backward has freed; of a tensor that is there only those to it."""
        for tail in self._list_savers(cut):
            yield GraphEdge(tail, cut.tensor, "saved")
        source = self._find_entry_of_tensor(cut.source)
        if is_tensor_gone and source is not None:
            yield GraphEdge(cut.tensor, source, "was cut")

    def _describe_outside(self) -> tuple[tuple[OutsideEntry, ...], list[GraphEdge]]:
        """Describe the entries outside of an opened fold that its nodes lead to, or come from."""
        entries: dict[str, OutsideEntry] = {}
        # Each once, in order: several nodes behind one card lead to the same entry.
        edges: dict[GraphEdge, None] = {}
        entry_of, outside = self.selection.entry_of, self.selection.outside
        # Only an opened fold has an outside.
        if not outside:
            return (), []
        for node in self.snap.nodes:
            for end in node.ends:
                tail, head = entry_of.get(node.id), entry_of.get(end)
                if tail and not head:
                    entry = f"to_{outside[end]}"
                    name = self._name_of_entry(outside[end])
                    caption = gettext("on to {entry}", entry=name)
                    edges[GraphEdge(tail, entry, "next")] = None
                # A leaf that others use as well is drawn without them.
                elif head and not tail and self.snap.node(end).variable is None:
                    entry = f"from_{outside[node.id]}"
                    name = self._name_of_entry(outside[node.id])
                    caption = gettext("from {entry}", entry=name)
                    edges[GraphEdge(entry, head, "next")] = None
                else:
                    continue
                entries.setdefault(entry, OutsideEntry(entry, caption))
        return tuple(entries.values()), list(edges)

    def _name_of_entry(self, entry_id: str) -> str:
        if entry_id.startswith("F"):
            return entry_id
        return short_node_name(self.snap.node(entry_id).name)


# -- folds and tensors -----------------------------------------------------------------------------


def _describe_inside(changes: Changes, fold: NodeFold) -> GraphContents:
    if fold.inside is None:
        raise ValueError(f"{fold.id} is a fold of leaves")
    return describe_graph(changes, fold.inside())


def _summarize_fold(fold: NodeFold, title: str) -> str:
    nodes = ngettext("{number} node folded", "{number} nodes folded", len(fold.nodes))
    line = gettext("{fold}: {nodes}", fold=f"{fold.id} {title}".rstrip(), nodes=nodes)
    if fold.times == 1:
        return line
    return gettext("{line}; only the first of them is drawn here", line=line)


def _remarks_of_kinds(fold: NodeFold, title: str) -> Iterator[Remark]:
    """Yield how many nodes of each kind are folded: the text in one line, a card in several."""
    kinds = [
        gettext("{node} {number} times", node=short_node_name(name), number=f"{count:,}")
        for name, count in fold.kinds
    ]
    sentence = ngettext(
        "{fold} {number} node folded: {kinds}",
        "{fold} {number} nodes folded: {kinds}",
        len(fold.nodes),
        fold=f"{fold.id} {title}:" if title else fold.id,
        kinds=join_names(kinds),
    )
    caption = ngettext("{number} node folded", "{number} nodes folded", len(fold.nodes))
    yield Remark("heading", sentence, caption)
    for name, count in fold.kinds[:MOST_KINDS]:
        caption = gettext("{number} x {node}", number=f"{count:,}", node=short_node_name(name))
        yield Remark("node kind", "", caption)
    more = len(fold.kinds) - MOST_KINDS
    if more > 0:
        caption = ngettext("and {number} kind more", "and {number} kinds more", more)
        yield Remark("more", "", caption)


def _origin_of_tensor(tensor: TensorRecord) -> str:
    """Return `made by N1 SumBackward0`, `a leaf that requires grad`, ..."""
    if tensor.is_leaf is None:
        return gettext("its grad_fn is invalid")
    if tensor.is_leaf and tensor.requires_grad:
        return gettext("a leaf that requires grad")
    if tensor.is_leaf:
        return gettext("not on the graph (requires_grad=False)")
    node = tensor.grad_fn or gettext("a node that was not read")
    return gettext(
        "made by {node} {name}", node=node, name=short_node_name(tensor.grad_fn_name or "")
    )


# -- what was saved: the same state is said twice, in words of the text and of the card ---------

# The text has all of it in one line: the versions, the consequence, the line that wrote. A card has
# room for a few words with a sign, so the line that wrote is a remark of its own ("writing line"), and
# the consequence is the sign. What is stale takes three functions: `_phrase_stale_state` for the text,
# `_kind_and_caption_of_saved` for the card, `_remarks_of_saved` for the order of the remarks.


def _phrase_value_and_state(snap: Snapshot, saved: SavedRecord) -> str:
    """Return a saved value and its state, for the text: `y, STALE: saved at version 0, now at 1; ...`.

    `_remark_of_state` puts "saved result: " before it.
    """
    value = snap.label(saved.tensor) if saved.tensor is not None else format_value(saved.value)
    # What cannot be read (stale, detached) may be a tensor that is not known: then it has no label.
    label = [value] if saved.tensor is not None else []
    match saved.state:
        case "live":
            if saved.version is None:
                sentence = gettext("{what}, live", what=value)
            else:
                sentence = gettext(
                    "{what}, live at version {version}", what=value, version=saved.version
                )
            if saved.was_written_unseen:
                sentence = gettext(
                    "{what}, but CHANGED UNSEEN: backward computes from the new values",
                    what=sentence,
                )
            elif saved.bytes_unchanged and saved.tensor:
                sentence = gettext("{what}, unchanged", what=sentence)
            return add_lines_that_wrote(sentence, saved)
        case "stale":
            return join_phrases([*label, add_lines_that_wrote(_phrase_stale_state(saved), saved)])
        case "detached":
            sentence = gettext(
                "DETACHED in place since it was saved; {consequence}",
                consequence=phrase_consequence(saved),
            )
            return join_phrases([*label, sentence])
        case "freed" if saved.is_opened is None:
            return gettext("freed by a backward; another backward raises if it opens them")
        case "freed":
            return gettext("freed by a backward; another backward will raise")
        case "number":
            return value
        case "packed":
            return _phrase_packed_state(saved)
        case "once":
            return gettext("given out only once, so it is left for backward")
    return gettext("cannot be read")


def _phrase_packed_state(saved: SavedRecord) -> str:
    """Return why the hook that unpacks it raises, or that it was not opened."""
    if saved.refusal is not None and saved.is_opened is not False:
        return saved.refusal.word()
    return gettext("packed by a saved-tensor hook, not opened")


def _phrase_stale_state(saved: SavedRecord) -> str:
    """Return `STALE: saved at version 0, now at 1; backward will raise`, for the text."""
    phrases = {
        "then_and_now": phrase_versions_then_and_now(saved),
        "consequence": phrase_consequence(saved),
    }
    if not saved.may_raise:
        return gettext("saved {then_and_now}; {consequence}", **phrases)
    return gettext("STALE: saved {then_and_now}; {consequence}", **phrases)


def _kind_and_caption_of_saved(snap: Snapshot, saved: SavedRecord) -> tuple[RemarkKind, str]:
    """Return the kind of remark, and a saved value with its state for a card or its tooltip.

    The kind decides which of the two, and with which sign: see `REMARK_LOOKS` in `render/graph_cards.py`.
    """
    head = gettext("saved {name}", name=shorten_text(escape_unseen(saved.name), SAVED_COLUMNS))
    value = head
    if saved.tensor is not None:
        label = snap.label(saved.tensor)
        has_name = bool(snap.first_name(snap.tensor(saved.tensor)))
        # Without a name it is called after what it shares memory with, or else by its id (T5), which
        # a drawing does not have.
        if has_name or saved.tensor not in label:
            label = cut_middle(label, LABEL_COLUMNS)
            value = gettext("{what}: {facts}", what=head, facts=label)
    elif saved.value is not None:
        value = gettext("{what}: {facts}", what=head, facts=format_value(saved.value))
    match saved.state:
        case "live":
            if saved.was_written_unseen:
                return "changed unseen", gettext("{what}, changed unseen", what=value)
            return ("unchanged" if saved.bytes_unchanged else "live"), value
        case "number":
            return "number", value
        case "stale":
            versions = {"then": saved.saved_version, "now": saved.version}
            if saved.may_raise:
                return "raises", gettext("{what} at v{then}, now v{now}", what=value, **versions)
            # Not marked as what raises: backward does not open it.
            return "live", gettext(
                "{what} at v{then}, now v{now}, not read by backward", what=value, **versions
            )
    return _kind_and_caption_without_value(saved, head)


def _kind_and_caption_without_value(saved: SavedRecord, head: str) -> tuple[RemarkKind, str]:
    """Return kind and caption of what cannot be looked at, or is gone: only its name is known."""
    match saved.state:
        case "detached":
            return "raises", gettext("{what}, detached since", what=head)
        case "freed":
            return "freed", gettext("{what}: freed", what=head)
        case "packed" if saved.refusal and saved.is_opened is not False:
            return "raises", gettext("{what}: its hook raises as it is now", what=head)
        case "packed":
            return "packed", gettext("{what}: packed by a hook", what=head)
        case "once":
            return "once", gettext("{what}: left for backward", what=head)
    return "unreadable", gettext("{what}: cannot be read", what=head)


def _may_have_read_cut(node: NodeRecord) -> bool:
    """Return True for a node with an input that gets no gradient, and whose saved tensors a backward freed."""
    has_freed = any(saved.state == "freed" for saved in node.saved)
    return has_freed and None in node.edges


# -- the graph as a whole --------------------------------------------------------------------------


def _heading_of_graph(snap: Snapshot, leaves: Sequence[TensorRecord]) -> Remark:
    """Return the first line of the text, and what the drawing says where it has no node to show."""
    caption = ""
    if not snap.named_tensors:
        caption = gettext("no tensors to show")
    elif not snap.nodes and not all(tensor.is_leaf for tensor in leaves):
        caption = gettext("The graph cannot be read.")
    elif not snap.nodes and leaves:
        names = join_few_names(snap.label(tensor.id) for tensor in leaves)
        caption = gettext("No graph: nothing here was computed from {names}.", names=names)
    elif not snap.nodes:
        caption = gettext("No graph: nothing here requires grad.")
    # A note says that the graph was too large to be read as a whole.
    more = gettext(" and more") if snap.notes else ""
    if not snap.named_tensors:
        sentence = gettext("Graph: no tensors to show.")
    elif not snap.nodes:
        sentence = gettext(
            "Graph: no node. Nothing here was computed from a tensor that requires grad."
        )
    else:
        sentence = ngettext(
            "Graph: {number} node{more}.",
            "Graph: {number} nodes{more}.",
            len(snap.nodes),
            more=more,
        )
    return Remark("heading", sentence, caption)


def _title_of_graph(snap: Snapshot) -> str:
    """Return what a graph picture shows, in half a sentence."""
    if not snap.names:
        return gettext("Graph: no tensors to show.")
    nodes = ngettext("{number} node", "{number} nodes", len(snap.nodes))
    return gettext("graph of {names}: {nodes}", names=snap.title, nodes=nodes)


def _summarize_graph(changes: Changes, flow_count: int, cut_count: int) -> str:
    """Return what the picture shows in a few words, for screen readers."""
    snap = changes.now
    summary = ngettext(
        "Autograd graph with {number} node", "Autograd graph with {number} nodes", len(snap.nodes)
    )
    if snap.notes:
        summary += gettext(" and more")
    phrases = [summary]
    if changes.new_nodes:
        phrases.append(gettext("{number} of them new", number=f"{len(changes.new_nodes):,}"))
    if flow_count:
        went = gettext("a gradient went through {number} of them", number=f"{flow_count:,}")
        phrases.append(went)
    if cut_count:
        phrases.append(ngettext("cut at {number} place", "cut at {number} places", cut_count))
    return join_phrases([*phrases, *_phrase_stale_counts(snap)])


def _phrase_stale_counts(snap: Snapshot) -> Iterator[str]:
    """Yield how many saved tensors are stale, those apart of which backward does not do the same."""
    raised_count = sure_count = unsure_count = 0
    for _, saved in find_stale_saved(snap):
        if saved.has_raised:
            raised_count += 1
        elif saved.raises:
            sure_count += 1
        # The backward of a Function may not open it.
        else:
            unsure_count += 1
    if raised_count:
        yield ngettext(
            "{number} saved tensor stale: backward raised",
            "{number} saved tensors stale: backward raised",
            raised_count,
        )
    if sure_count:
        yield ngettext(
            "{number} saved tensor stale: backward will raise",
            "{number} saved tensors stale: backward will raise",
            sure_count,
        )
    if unsure_count:
        yield ngettext(
            "{number} saved tensor stale: backward raises if it opens it",
            "{number} saved tensors stale: backward raises if it opens one of them",
            unsure_count,
        )


def _list_notes(changes: Changes, selection: NodeSelection) -> Iterator[str]:
    """Yield what remains to be said below the nodes: what was not read, is gone, or is not shown."""
    # The picture that an opened fold is a part of has said these.
    if not selection.outside:
        for note in changes.now.notes:
            yield gettext("{note}, and what lies beyond is not shown", note=note)
        gone = [escape_name(name) for name in changes.gone_names]
        if gone:
            yield gettext("no longer there: {names}", names=join_names(gone))
        if changes.lost_node_count:
            yield ngettext(
                "{number} earlier node is no longer reached",
                "{number} earlier nodes are no longer reached",
                changes.lost_node_count,
            )
    folds = [entry for entry in selection.entries if isinstance(entry, NodeFold)]
    if any(fold.label for fold in folds):
        if has_noted_modules(changes.now):
            yield gettext("a fold is named after modules whose forward made nodes in it")
        else:
            yield gettext("a fold is named after modules whose tensors are read by nodes in it")
    if any(fold.times > 1 for fold in folds):
        yield gettext(
            "parts that are folded as a number of times are equal in nodes, edges, and the "
            "shapes that are known"
        )
    if selection.find and not selection.found:
        yield gettext("nothing here is called {name}", name=escape_name(selection.find))
