"""What a picture shows and says, decided before anything is drawn."""

from .arrangement import Span, arrange_run, find_spans, reads_in_order
from .contents import (
    FACT_KINDS,
    Arrangement,
    CounterEntry,
    FoldEntry,
    FreedEntry,
    GraphContents,
    GraphEdge,
    MemoryContents,
    NamedTensor,
    NodeEntry,
    NumberEntry,
    PackEntry,
    Remark,
    RemarkKind,
    StorageEntry,
    TensorEntry,
)
from .graph_cuts import FreedCut, find_freed_cuts
from .graph_flow import find_backward_root
from .graph_remarks import LineFacts, describe_graph
from .left_behind import describe_kept_graphs
from .levels import ALL_PARTS, LEVELS, Level, MemoryPart, check_level, check_option, select_parts
from .memory_remarks import describe_memory
from .number_reads import NumberRead, ReadStep, find_number_reads
from .origins import find_expressions, find_origins
from .select_nodes import NodeSelection, select_nodes
from .select_storages import select_storages
from .step_sentences import (
    StepSentence,
    describe_new_cuts,
    describe_step,
    format_values,
    list_texts,
)

__all__ = [
    "ALL_PARTS",
    "FACT_KINDS",
    "LEVELS",
    "Arrangement",
    "CounterEntry",
    "FoldEntry",
    "FreedCut",
    "FreedEntry",
    "GraphContents",
    "GraphEdge",
    "Level",
    "LineFacts",
    "MemoryContents",
    "MemoryPart",
    "NamedTensor",
    "NodeEntry",
    "NodeSelection",
    "NumberEntry",
    "NumberRead",
    "PackEntry",
    "ReadStep",
    "Remark",
    "RemarkKind",
    "Span",
    "StepSentence",
    "StorageEntry",
    "TensorEntry",
    "arrange_run",
    "check_level",
    "check_option",
    "describe_graph",
    "describe_kept_graphs",
    "describe_memory",
    "describe_new_cuts",
    "describe_step",
    "find_backward_root",
    "find_expressions",
    "find_freed_cuts",
    "find_number_reads",
    "find_origins",
    "find_spans",
    "format_values",
    "list_texts",
    "reads_in_order",
    "select_nodes",
    "select_parts",
    "select_storages",
]
