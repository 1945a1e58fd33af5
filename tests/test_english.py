"""The patterns that are kept out of the English are found where they are, and nowhere else."""

import glossary
import pytest
from english import (
    FOR_READERS,
    PATTERNS,
    code_texts,
    docstring_faults,
    find_faults,
    find_patterns,
    first_line_faults,
    list_texts,
)


@pytest.mark.parametrize(
    "sentence",
    [
        "`t` shall show `[2, 3]`.",
        "Nobody sees it, for the numbers stay where they are.",
        "The right gradient is 6, for\n`x` was 3 then.",
        "The tensor that was a leaf is none any more.",
        "After `detach` there is no way back to the layer.",
        "The way is the other way.",
        "It is copied. Who relies on sharing writes `view`.",
        "It says so; who is right is told what was seen.",
        "There is no difference for the one who has them.",
        "The solutions stand in a folder.",
        "Your copies lie in `course/`.",
        "It is one of the tensor's storage's cells.",
        "This differs, for numbers of time differ.",
        "A node it has not.",
        "It lies on no device, and still:",
        "The error of section 4 comes again.",
        "What `empty` shows is another thing each time.",
        "In the third line stands an attribute, no call.",
    ],
)
def test_a_pattern_is_found(sentence: str) -> None:
    assert list(find_patterns(f"All is well.\n\n{sentence}\n"))


@pytest.mark.parametrize(
    "sentence",
    [
        "Print it, for example with `print`.",
        "There is one storage for `a`, one for `x`, and two more.",
        "`x` stands in for your tensor; `x` stands for a number.",
        "Who shares the memory?",
        "It does what you ask for. If you rely on sharing, write `view`.",
        "It says what changed for those who use it.",
        "`a.grad` is 2. The other way round it is 3.",
        "```python\nx = 1  # it shall stay, for it is none any more\n```",
    ],
)
def test_good_english_and_code_are_left_alone(sentence: str) -> None:
    assert list(find_patterns(sentence)) == []


def test_what_people_read_has_none_of_them() -> None:
    assert find_faults(list_texts(), PATTERNS | FOR_READERS) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "It mends the sum.",
        "Until you set them back.",
        "So b is no leaf.",
        "It went up, 0 -> 1.",
        "`w` was written where nothing is recorded.",
        "It was written afterwards on {lines}.",
        "It was written 2 times since.",
        "Its base was written since.",
        "What was saved is WRITTEN UNSEEN.",
        "{name} was written by {written} after {saved} saved it.",
        "The saved tensor may not be written, whichever name the write goes through.",
    ],
)
def test_what_readers_are_spared(sentence: str) -> None:
    assert list(find_patterns(sentence, FOR_READERS))
    assert not list(find_patterns("There is no leaf, no list. It went up, 0 → 1.", FOR_READERS))


@pytest.mark.parametrize(
    "sentence",
    [
        "`w` was written to on line 5, and its base has been written to since.",
        "An answer is read as it is written. The file was written where it should be.",
        "The numbers were written over, and the tensor is written to by line 3.",
        "The table was written by hand, its values are written into a tensor.",
    ],
)
def test_a_text_is_written_and_a_tensor_written_to(sentence: str) -> None:
    assert list(find_patterns(sentence, FOR_READERS)) == []


def test_docstrings_and_comments_have_none_of_them() -> None:
    texts = list(code_texts())
    assert len(texts) > 3000
    assert find_faults(texts) == []
    assert docstring_faults() == []


def test_a_docstring_begins_with_a_noun_or_an_imperative() -> None:
    assert list(first_line_faults("What is drawn.\n\nAll of it."))
    assert list(first_line_faults("Whether a tensor is one."))
    assert not list(first_line_faults("Return what is drawn."))


def test_lessons_widgets_and_docs_are_read() -> None:
    places = {place for place, _ in list_texts()}
    assert places >= {
        "notebooks/14_clinic.ipynb",
        "tinytorch/locale/tinytorch.pot",
        "widgets/copylab/locale/copylab.pot",
        "README.md",
        "docs/widgets/steps.md",
    }


def test_a_place_is_named_with_its_fault() -> None:
    (fault,) = find_faults([("README.md", "It shall be."), ("other.md", "It should be.")])
    assert fault.startswith(
        "README.md: `shall`  (write: should, must or will)  in ... It shall be."
    )


def test_chinese_and_korean_use_the_words_of_the_glossary() -> None:
    """What somebody translates says the same: see tools/glossary.toml."""
    for language in glossary.LANGUAGES:
        names = glossary.read_texts(language)
        assert {f"notebooks/translations/{language}/02_clone.md", f"README.{language}.md"} <= {
            *names
        }
        assert len([name for name in names if name.endswith(".po")]) == 2
    assert glossary.find_faults() == []
