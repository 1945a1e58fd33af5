"""One word for one thing in Chinese and Korean, and particles that are chosen or that nobody has to choose."""

import re

from glossary import Term, find_forbidden, read_terms, read_texts
from project_files import ROOT

BOTH_FORMS = r"은\(는\)|이\(가\)|을\(를\)|[과와]\([와과]\)|[는가를]\([은이을]\)|\([으이]\)[로라어]"


def test_another_word_is_found() -> None:
    wrong = {
        "zh": "一个储存。\n`偏移`的偏移,单元",
        "ko": "y로 쓴 값\n`기울기`의 기울기가 보폭을 돌려줍니다",
    }
    found = {
        language: list(find_forbidden(read_terms(language), text))
        for language, text in wrong.items()
    }
    assert found["zh"] == [
        "1: '储存' is barred in '一个储存。 ``的偏移,单元'; the word for storage is 存储",
        "2: '偏移' is barred in '一个储存。 ``的偏移,单元'; the word for offset is 偏移量",
        "2: ',单' is barred in '一个储存。 ``的偏移,单元'",
    ]
    assert [fault.split("'")[1] for fault in found["ko"]] == ["y로 쓴", "기울기", "보폭", "돌려줍"]
    assert list(find_forbidden([Term("leaf", "리프", ("잎",))], "`잎` 리프")) == []


def test_words_taken_over_from_english_are_found() -> None:
    said = (
        "还是同一些格子吗",
        "它不在图上",
        "`d` 的计数器没有看到这次写入",
        "自动求导看不到它",
        "通过 `x` 的写入在 `y` 中看得到吗",
        "下面哪些调用与 `x` 共享格子",
        "只要两个调用",
        "矩阵运算",
        "autograd 保存了它",
        "[开始](00_start.ipynb)一课",
        "[更多](12_beyond.ipynb)",
        "已完成 {percent} %",
    )
    terms = read_terms("zh")
    assert [text for text in said if not list(find_forbidden(terms, text))] == []
    right = (
        "同一批格子",
        "从图中看到",
        "看到 3% 的写入",
        "pytorch.org/notes/autograd.html",
        "`autograd` 的",
    )
    assert [text for text in right if list(find_forbidden(terms, text))] == []


def test_a_particle_is_chosen_where_a_name_is_filled_in() -> None:
    for name, text in read_texts("ko").items():
        # Where the word is in the translation itself, the translator chooses.
        assert not re.search(f"[가-힣](?:{BOTH_FORMS})", text)
        assert name.endswith(".po") or not re.search(BOTH_FORMS, text)
    for path in (ROOT / "widgets/copylab/locale/ko").rglob("*.po"):
        in_scripts = [said for said in path.read_text("utf-8").split("\n\n") if ".js\n" in said]
        assert len(in_scripts) > 40
        # What scripts fill in is joined as it is: `say` knows no sounds.
        assert [said for said in in_scripts if re.search(BOTH_FORMS, said)] == []
