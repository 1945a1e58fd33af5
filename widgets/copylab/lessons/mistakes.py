"""The kinds of mistakes that this course is about, as the clinic asks for them."""

from ..wording import gettext_noop

SHARED = gettext_noop("memory is shared that should be copied")
CUT = gettext_noop("the graph is cut")
FAR = gettext_noop("the graph reaches back too far")
OVERWRITTEN = gettext_noop("a value was overwritten that backward needs")
RECORDED = gettext_noop("a write into a leaf would be recorded")
ADDED = gettext_noop("gradients add up")
ELSEWHERE = gettext_noop("a name stands for another tensor than it seems")
