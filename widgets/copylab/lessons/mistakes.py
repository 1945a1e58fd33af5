"""The kinds of mistakes that this course is about, as the clinic asks for them."""

from ..wording import gettext_noop

SHARED = gettext_noop("memory is shared that should be copied")
CUT = gettext_noop("the graph is cut")
FAR = gettext_noop("the graph reaches back too far")
OVERWRITTEN = gettext_noop("a value was overwritten that backward needs")
RECORDED = gettext_noop("a write into a leaf would be recorded")
ADDED = gettext_noop("gradients add up")
ELSEWHERE = gettext_noop("a name stands for another tensor than it seems")

SIGNS = {
    SHARED: gettext_noop(
        "Where memory is shared, a write through one name also changes what the other shows."
    ),
    CUT: gettext_noop(
        "Where a graph is cut, a gradient is missing in whole or in part, or backward raises an error."
    ),
    FAR: gettext_noop(
        "Where a graph reaches back too far, what earlier rounds saved is kept, and backward may run through them again."
    ),
    OVERWRITTEN: gettext_noop(
        "Where such a value was overwritten, backward raises an error or, if the version counter did not see the write, may compute a wrong gradient."
    ),
    RECORDED: gettext_noop(
        "Where a write into a leaf would be recorded, the write itself raises the error, before any backward."
    ),
    ADDED: gettext_noop(
        "Where gradients add up, `.grad` holds the sum of several backward passes."
    ),
    ELSEWHERE: gettext_noop(
        "Where a name stands for another tensor, a gradient or a write arrives at one tensor, and you look at the other."
    ),
}
"""What each kind looks like, in any program."""
