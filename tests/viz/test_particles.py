"""Korean particles follow the sound of the word that is filled in, as Koreans read names, numbers and code."""

import pytest

import tinytorch
from tinytorch.viz import join_names, memory
from tinytorch.viz.wording.catalogue import set_language
from tinytorch.viz.wording.particles import fill_in

FORMS = "은(는) 이(가) 을(를) 과(와) (으)로 (이)라 (이)어야"
OPEN = "는 가 를 와 로 라 여야"
CLOSED = "은 이 을 과 으로 이라 이어야"
CLOSED_BY_L = "은 이 을 과 로 이라 이어야"
WORDS = {
    OPEN: (
        # 엑스, 와이, 더블유, 에이치; 디태치, 로스, 텐서, 리스트, 플로트
        *("x", "y", "w", "h", "`y`", "x.T", "loss", "tensor", "list", "float", "x.grad", "copy_"),
        *("leaf", "detach()", "tensor([1.])", "h (저장한 값)", "<code>x</code>"),
        # 이, 사, 오, 구
        *("2", "4.5", "[2., 4.]", "float32", "y2", "텐서"),
    ),
    CLOSED: (
        # 엔, 엠; 클론, 넌, 스텝, 인풋, 타입, 훅, 아담
        *(
            "n",
            "m",
            "x_n",
            "clone",
            "x.clone()",
            "None",
            "step",
            "input",
            "dtype",
            "shape",
            "hook",
            "Adam",
        ),
        # 영, 삼, 육, 십, 천
        *("0", "3", "16", "10", "1,000", "(2, 3)", "[3.]", "out (result)", "저장한 값"),
    ),
    CLOSED_BY_L: (
        # 엘, 알; 모델, 튜플; 일, 칠, 팔
        *("l", "lr", "model", "tuple", "x.mul()", "1", "7", "x8", "(1,)", "<b>파일</b>"),
        # 줄, whatever is in its brackets
        *("2번 줄(`v = x.view(4)`)", "3번 줄(`b.sum().backward()`)"),
        "1번 줄(`x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)`)",
    ),
    FORMS: ("", "…", "张量", "(((("),  # nobody knows how these are read
}


def test_a_particle_follows_the_sound_of_a_word() -> None:
    for chosen, words in WORDS.items():
        for word in words:
            filled = [fill_in(f"그 뒤 {{w}}{form}", {"w": word}) for form in FORMS.split()]
            assert filled == [f"그 뒤 {word}{form}" for form in chosen.split()]


def test_two_chinese_characters_have_no_space_between_them() -> None:
    for noun, written in {"第二个输入": "保存了第二个输入", "result": "保存了 result"}.items():
        assert fill_in("保存了 {saved}", {"saved": noun}) == written
    for name, written in {"h 的视图": "h 的视图的内存", "h": "h 的内存"}.items():
        assert fill_in("{name} 的内存", {"name": name}) == written
    assert fill_in("在 {where} 之后", {"where": "第 4 行"}) == "在第 4 行之后"
    array = "n\uff08NumPy 数组\uff09"
    assert fill_in("由 {array} 共享", {"array": array}) == f"由 {array}共享", "a wide bracket"
    assert fill_in("这是 {word}", {"word": "“x”"}) == "这是“x”"
    assert fill_in("{n} 个 {what}", {"n": 2, "what": "他 的"}) == "2 个他 的", "a text of a user's"


def test_only_the_translation_is_changed() -> None:
    written = fill_in("{name!r}은(는) {text}", {"name": "x", "text": "n은(는) {name}"})
    assert written == "'x'는 n은(는) {name}"
    assert fill_in("{{}}: {number:g}이(가) {{}}", {"number": 3.0}) == "{}: 3이 {}"
    assert fill_in("{x}은(는)", {"x": "(" * 100_000 + "x"}).endswith("x는")


@pytest.mark.parametrize(
    ("language", "two", "three"),
    [
        (None, "x and n", "x, y and n"),
        ("zh", "x 和 n", "x、y 和 n"),
        # Korean writes the particle between two, and commas alone between three.
        ("ko", "x와 n", "x, y, n"),
    ],
)
def test_two_names_are_joined_as_the_language_joins_two(
    language: str | None, two: str, three: str
) -> None:
    set_language(language)
    try:
        assert [join_names(names) for names in ([], ["x"], ["x", "n"])] == ["", "x", two]
        assert join_names(["x", "y", "n"]) == three
    finally:
        set_language(None)


def test_the_name_of_a_storage_is_none_of_those_that_share_it() -> None:
    x = tinytorch.tensor([1.0, 2.0])
    set_language("ko")
    try:
        text = memory(x=x, v=x.view(2), d=x.detach()).text
    finally:
        set_language(None)
    assert "S1(x, v, d가 공유하는 저장소): " in text
    assert "버전 카운터 C1(x, v, d가 공유): " in text
