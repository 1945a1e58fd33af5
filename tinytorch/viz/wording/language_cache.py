"""Caches of what has translated text in it: after `set_language` it is made anew.

`functools.cache` would go on in the language of the first call, beside texts in another one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

from .catalogue import current_language

P = ParamSpec("P")
T = TypeVar("T")


class LanguageCache(Generic[P, T]):
    """A function whose results are cached for each language."""

    def __init__(self, function: Callable[P, T], maxsize: int | None) -> None:
        @functools.lru_cache(maxsize)
        def call_in(_language: str | None, *args: Any, **keywords: Any) -> T:
            return function(*args, **keywords)

        self._call_in = call_in
        self._arguments = function, maxsize
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **keywords: P.kwargs) -> T:
        """Return the result of the call in the language in use."""
        return self._call_in(current_language(), *args, **keywords)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the function without its results: an `lru_cache` of a closure has no pickle."""
        return LanguageCache, self._arguments

    def cache_clear(self) -> None:
        """Forget all results, as that of `functools.lru_cache` does."""
        self._call_in.cache_clear()


def cache_in_language(
    maxsize: int | None = None,
) -> Callable[[Callable[P, T]], LanguageCache[P, T]]:
    """Cache what a function returns, as `functools.lru_cache` does, for each language."""
    return lambda function: LanguageCache(function, maxsize)


class cached_property_in_language(functools.cached_property[T]):
    """A `functools.cached_property` that is computed anew after another language was chosen."""

    def __set_name__(self, owner: type[Any], name: str) -> None:
        # Under another name than its own: the value in the instance would hide this property.
        super().__set_name__(owner, f"_{name}_in_language")

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Self | T:
        """Return the value in the language in use; of another language none is kept."""
        if instance is None:
            return self
        attributes, language = vars(instance), current_language()
        entry = attributes.get(self.attrname)
        if entry is None or entry[0] != language:
            entry = attributes[self.attrname] = (language, self.func(instance))
        value: T = entry[1]
        return value
