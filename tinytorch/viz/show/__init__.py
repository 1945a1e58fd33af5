"""What a picture shows and says, decided before anything is drawn."""

from .contents import (
    MOST_ARCS,
    FoldEntry,
    GraphContents,
    GraphEdge,
    MemoryContents,
    NamedTensor,
    NodeEntry,
    PackEntry,
    Remark,
    RemarkKind,
    StorageEntry,
    TensorEntry,
)
from .graph_flow import find_backward_root
from .graph_remarks import describe_graph
from .left_behind import describe_kept_graphs
from .memory_remarks import describe_memory
from .select_nodes import NodeSelection, select_nodes
from .select_storages import check_option, select_storages
from .step_sentences import StepSentence, describe, texts_of

__all__ = [
    "MOST_ARCS",
    "FoldEntry",
    "GraphContents",
    "GraphEdge",
    "MemoryContents",
    "NamedTensor",
    "NodeEntry",
    "NodeSelection",
    "PackEntry",
    "Remark",
    "RemarkKind",
    "StepSentence",
    "StorageEntry",
    "TensorEntry",
    "check_option",
    "describe",
    "describe_graph",
    "describe_kept_graphs",
    "describe_memory",
    "find_backward_root",
    "select_nodes",
    "select_storages",
    "texts_of",
]
