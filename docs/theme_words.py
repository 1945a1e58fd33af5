"""What Furo says around a page in Chinese and Korean: it brings no catalogue, and Sphinx's has few of its words.

What its templates translate is asked of Sphinx's translator, which gets the table as its fallback. Labels that they,
or MyST-NB, have in English alone are replaced in the pages that were written.
"""

from __future__ import annotations

import gettext
import re
from pathlib import Path

from sphinx.application import Sphinx

_ROWS = (
    ("On this page", "本页内容", "이 페이지의 내용"),
    ("Next", "下一页", "다음"),
    ("Previous", "上一页", "이전"),
    ("Home", "首页", "홈"),
    ("Skip to content", "跳到正文", "본문으로 건너뛰기"),
    ("Back to top", "回到顶部", "맨 위로"),
    ("View this page", "查看本页源文件", "이 페이지의 소스 보기"),
    ("Edit this page", "编辑本页", "이 페이지 편집"),
    ("Made with ", "制作工具 ", "제작 도구 "),
    ("Search", "搜索", "검색"),
    ("Error", "错误", "오류"),
    ("Link to this heading", "链接到这个标题", "이 제목으로 가는 링크"),
    (
        "Copyright &#169; %(copyright)s",
        "版权所有 &#169; %(copyright)s",
        "저작권 &#169; %(copyright)s",
    ),
    (
        "Please activate JavaScript to enable the search functionality.",
        "搜索需要启用 JavaScript。",
        "검색하려면 JavaScript를 켜야 합니다.",
    ),
)
_LABELS = (
    ("Toggle site navigation sidebar", "显示或隐藏导航栏", "사이트 탐색 표시줄 여닫기"),
    ("Toggle table of contents sidebar", "显示或隐藏本页目录", "목차 표시줄 여닫기"),
    (
        "Toggle Light / Dark / Auto color theme",
        "切换浅色、深色或自动配色",
        "밝은 색, 어두운 색, 자동 전환",
    ),
    ("Toggle hidden content", "显示或隐藏内容", "숨긴 내용 여닫기"),
    ("Contents", "目录", "목차"),
    ("Menu", "菜单", "메뉴"),
    ("Expand", "展开", "펼치기"),
    ("Light mode", "浅色模式", "밝은 색 모드"),
    ("Dark mode", "深色模式", "어두운 색 모드"),
    ("Auto light/dark, in light mode", "自动配色 - 现为浅色", "자동 전환, 지금은 밝은 색"),
    ("Auto light/dark, in dark mode", "自动配色 - 现为深色", "자동 전환, 지금은 어두운 색"),
)
_LANGUAGES = ("zh", "ko")


def _find_words(rows: tuple[tuple[str, str, str], ...], sphinx_code: str) -> dict[str, str]:
    """Return the words of a language by the English ones; none for English."""
    language = sphinx_code.partition("_")[0]
    if language not in _LANGUAGES:
        return {}
    return {row[0]: row[1 + _LANGUAGES.index(language)] for row in rows}


class _Words(gettext.NullTranslations):
    """The table as a catalogue."""

    def __init__(self, words: dict[str, str]) -> None:
        super().__init__()
        self._words = words

    def gettext(self, message: str) -> str:
        """Return the words for a message, or itself."""
        return self._words.get(message, message)


def add_words(app: Sphinx) -> None:
    """Have the templates say what Sphinx's own catalogue lacks."""
    app.translator.add_fallback(_Words(_find_words(_ROWS, app.config.language)))


def replace_labels(app: Sphinx, problem: Exception | None) -> None:
    """Put the labels that no catalogue reaches into the language of the pages."""
    words = _find_words(_LABELS, app.config.language)
    if problem is not None or not words:
        return
    # As the whole of a title or of a label: the prose may have the words, too.
    either = "|".join(map(re.escape, words))
    pattern = re.compile(rf'(<title>|aria-label=")({either})(?=</title>|")')
    for path in Path(app.outdir).rglob("*.html"):
        text = path.read_text("utf-8")
        path.write_text(pattern.sub(lambda found: found[1] + words[found[2]], text), "utf-8")
