"""Ready-made questions about a run, for `predict`: `from copylab.questions import same_storage, value`."""

from .quiz.questions import *  # noqa: F403  # the names are those of the table
from .quiz.questions import __all__ as __all__  # noqa: PLC0414
