"""Conditions on forms: how a query is read as one, and whether a form meets it.

The language is told in `forms.groups`. Ten thousand forms take some ten milliseconds for each
condition.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Final, Literal, Protocol, TypeAlias

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.forms.form import Form
from gamekeeper.wording import folded, quoted

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,60}(?:\.[0-9]{0,60})?|\.[0-9]{1,60})")
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "contains": operator.contains, "in": operator.eq,
}  # fmt: skip
SIGNS: Final = tuple(_COMPARE)
"""The signs and words that compare a key with values."""

# The same values stand on form after form.
_folded = lru_cache(maxsize=4_096)(folded)


@dataclass(frozen=True)
class Name:
    """A key or a variable, whatever its spelling on a form.

    Examples
    --------
    >>> Name("year").among({"Year": 2029, "Sector": "Retail"})
    ['Year']
    """

    text: str

    def among(self, names: Collection[str]) -> list[str]:
        """Return those names that differ from this one in case, accents or spaces at most."""
        # Forms have the same names again and again: each is folded once.
        if not self._seen.issuperset(names):
            for name in names:
                if name not in self._seen:
                    if folded(name) == self._folded:
                        self._spellings.append(name)
                    self._seen.add(name)
        return [name for name in self._spellings if name in names]

    @cached_property
    def _folded(self) -> str:
        return folded(self.text)

    @cached_property
    def _seen(self) -> set[str]:
        return set()

    @cached_property
    def _spellings(self) -> list[str]:
        return []


@dataclass(frozen=True)
class Value:
    """What a key is compared with; `is_text` where a number is meant as text."""

    text: str
    is_text: bool = False

    @cached_property
    def folded(self) -> str:
        """The text to compare text with."""
        return folded(self.text)

    @cached_property
    def number(self) -> float | None:
        """The number to compare numbers with."""
        return None if self.is_text else _as_number(self.text)


@dataclass(frozen=True)
class Comparison:
    """A key and one of `SIGNS`, with several values for `in`; the key None is the form's name."""

    key: Name | None
    sign: str
    values: tuple[Value, ...]

    def matches(self, form: Form, codes: Codes | None = None) -> bool:
        """Tell whether the form has the key, with a value that compares so."""
        if self.key is None:
            return self._holds(form.name, folded(form.name))
        for name in self.key.among(form.metadata):
            found = form.metadata[name]
            if found is not None and self._holds(found, _as_text(found)):
                return True
        return False

    def _holds(self, found: str | float, text: str) -> bool:
        compare = _COMPARE[self.sign]
        for value in self.values:
            if value.number is None or self.sign == "contains":
                holds = compare(text, value.folded)
            elif (number := _as_number(found)) is not None:
                holds = compare(number, value.number)
            else:
                holds = self.sign == "!="
            if holds:
                return True
        return False


@dataclass(frozen=True)
class Has:
    """The form asks for a variable."""

    variable: Name

    def matches(self, form: Form, codes: Codes | None = None) -> bool:
        """Tell whether the form asks for it."""
        return bool(self.variable.among(form.instances))


class Codes(Protocol):
    """What a query on codes and categories asks of an environment."""

    def compares(self, form: Form, variable: str, sign: str, code: str) -> bool:
        """Tell whether the code of a variable on a form compares so with another."""
        ...

    def offers(self, form: Form, variable: str, category: str) -> bool:
        """Tell whether a form offers a category of a variable."""
        ...


@dataclass(frozen=True)
class OfVariable:
    """In which code a form asks for a variable, or which category of it the form offers.

    A code compares by `=`, `!=`, `in`, `finer than` or `coarser than`, a category by `=` or `in`.
    """

    what: Literal["code", "category"]
    variable: Name
    sign: str
    values: tuple[str, ...]

    def matches(self, form: Form, codes: Codes | None = None) -> bool:
        """Tell whether the form asks for the variable in such a code, or offers the category."""
        if codes is None:
            return False
        sign = "=" if self.sign == "in" else self.sign
        return any(
            codes.compares(form, name, sign, value)
            if self.what == "code"
            else codes.offers(form, name, value)
            for name in self.variable.among(form.instances)
            for value in self.values
        )


@dataclass(frozen=True)
class Not:
    """What another condition is not."""

    part: Condition

    def matches(self, form: Form, codes: Codes | None = None) -> bool:
        """Tell whether the form does not meet the other condition."""
        return not self.part.matches(form, codes)


@dataclass(frozen=True)
class AllOf:
    """Several conditions at once."""

    parts: tuple[Condition, ...]

    def matches(self, form: Form, codes: Codes | None = None) -> bool:
        """Tell whether the form meets all of them."""
        for part in self.parts:  # noqa: SIM110 - half the time of all()
            if not part.matches(form, codes):
                return False
        return True


@dataclass(frozen=True)
class AnyOf:
    """One of several conditions."""

    parts: tuple[Condition, ...]

    def matches(self, form: Form, codes: Codes | None = None) -> bool:
        """Tell whether the form meets one of them."""
        for part in self.parts:  # noqa: SIM110 - half the time of any()
            if part.matches(form, codes):
                return True
        return False


Condition: TypeAlias = Comparison | Has | OfVariable | Not | AllOf | AnyOf


def _as_number(found: str | float) -> float | None:
    if isinstance(found, bool):
        return None
    if not isinstance(found, str):
        return found
    text = _folded(found)
    if _NUMBER.fullmatch(text) is None:
        return None
    return float(text) if "." in text else int(text)


def _as_text(found: str | float) -> str:
    if isinstance(found, str):
        return _folded(found)
    return str(found).lower()


_DEEPEST = 50
_KEYWORDS: Final = {"and", "or", "not", "has", "contains", "in"}
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<quoted> '(?:[^']|'')*+' | "(?:[^"]|"")*+" )
    | (?P<sign> != | <= | >= | [=<>(),] )
    | (?P<word> (?!['"]) (?: (?!!=) [^\s=<>(),] )+ )
    | (?P<end> \Z )
    )""",
    re.VERBOSE,
)
_QUOTE_IT = (
    "Names and values with signs, or with the words and, or, not, has, contains, in,"
    " go in quotes: 'Trade and Industry'."
)


def parse_condition(text: str) -> Condition:
    """Return the condition that a query states."""
    return _Parser(text).parse()


def is_bare(word: str) -> bool:
    """Tell whether a word needs no quotes."""
    match = _TOKEN.match(word)
    return match is not None and match["word"] == word and word.casefold() not in _KEYWORDS


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # a keyword or a sign stands for itself; else "word", "quoted" or "end"
    text: str
    position: int


class _Parser:
    def __init__(self, text: str) -> None:
        self._source = text
        self._tokens = self._scanned()
        self._token = next(self._tokens)
        self._depth = 0

    def parse(self) -> Condition:
        condition = self._any()
        if not self._at("end"):
            raise self._expected("'and', 'or' or the end", _QUOTE_IT)
        return condition

    def _scanned(self) -> Iterator[_Token]:
        start, kind = 0, ""
        while kind != "end":
            match = _TOKEN.match(self._source, start)
            if match is None:
                at = len(self._source) - len(self._source[start:].lstrip())
                raise self._error(
                    f"The quote at position {at + 1} is not closed.",
                    "Close it, and double any quote that is part of the text.",
                )
            kind = str(match.lastgroup)
            text = match[kind]
            if kind == "sign":
                kind = text
            elif kind == "word" and text.casefold() in _KEYWORDS:
                kind = text.casefold()
            elif kind == "quoted":
                text = text[1:-1].replace(text[0] * 2, text[0])
            yield _Token(kind, text, match.start(match.lastgroup or 0) + 1)
            start = match.end()

    def _at(self, *kinds: str) -> bool:
        return self._token.kind in kinds

    def _take(self) -> _Token:
        taken = self._token
        if taken.kind != "end":
            self._token = next(self._tokens)
        return taken

    def _any(self) -> Condition:
        parts = [self._all()]
        while self._at("or"):
            self._take()
            parts.append(self._all())
        return _joined(AnyOf, parts)

    def _all(self) -> Condition:
        parts = [self._one()]
        while self._at("and"):
            self._take()
            parts.append(self._one())
        return _joined(AllOf, parts)

    def _one(self) -> Condition:
        negated = False
        while self._at("not"):
            self._take()
            negated = not negated
        if self._at("("):
            condition = self._inner()
        elif self._at("has"):
            self._take()
            condition = Has(Name(self._words("a variable", "Write its name after has.").text))
        else:
            condition = self._comparison()
        if not negated:
            return condition
        return condition.part if isinstance(condition, Not) else Not(condition)

    def _inner(self) -> Condition:
        if self._depth == _DEEPEST:
            raise self._error(
                f"At position {self._token.position} parentheses are more than {_DEEPEST} deep.",
                "Leave out those that are not needed.",
            )
        self._take()
        self._depth += 1
        condition = self._any()
        self._depth -= 1
        if not self._at(")"):
            raise self._expected("'and', 'or' or ')'", _QUOTE_IT)
        self._take()
        return condition

    def _comparison(self) -> Condition:
        what = self._token
        if what.kind == "word" and what.text.casefold() in ("code", "category"):
            self._take()
            if self._token.kind == "word" and self._token.text.casefold() == "of":
                is_code = what.text.casefold() == "code"
                return self._of_variable("code" if is_code else "category")
            words = [what.text]
            while self._at("word"):
                words.append(self._take().text)
            return self._compared(replace(what, text=" ".join(words)))
        return self._compared(self._words("a key, 'has', 'not' or '('", _QUOTE_IT))

    def _of_variable(self, what: Literal["code", "category"]) -> OfVariable:
        """Read what comes after `code` or `category`: of VARIABLE, a sign, codes or categories."""
        self._take()
        if self._at("quoted"):
            name = self._take().text
        else:
            words: list[str] = []
            while self._at("word") and self._token.text.casefold() not in ("finer", "coarser"):
                words.append(self._take().text)
            name = " ".join(words)
        if not name:
            raise self._expected("a variable", "Write its name after of.")
        sign = self._token.kind
        if what == "code" and sign == "word":
            sign = f"{self._take().text.casefold()} than"
            if not (self._at("word") and self._take().text.casefold() == "than"):
                raise self._expected("'than'", "Write finer than, or coarser than, and a code.")
        elif sign in (("=", "!=", "in") if what == "code" else ("=", "in")):
            self._take()
        else:
            do = "Write code of VARIABLE finer than CODE, or = and a code."
            raise self._expected("=, in, 'finer than' or 'coarser than'", do)
        values = tuple(value.text for value in self._listed_values(sign))
        return OfVariable(what, Name(name), sign, values)

    def _compared(self, first: _Token) -> Comparison:
        is_name = first.kind == "word" and folded(first.text) == "name"
        key = None if is_name else Name(first.text)
        sign = self._token.kind
        if sign not in SIGNS:
            signs = f"one of {' '.join(SIGNS)}"
            do = "Write not before the comparison: not KEY = VALUE." if sign == "not" else _QUOTE_IT
            raise self._expected(signs, do)
        self._take()
        return Comparison(key, sign, tuple(self._listed_values(sign)))

    def _listed_values(self, sign: str) -> list[Value]:
        if sign != "in":
            return [self._value()]
        if not self._at("("):
            raise self._expected("'('", "Write the values as (one, two).")
        values: list[Value] = []
        while self._at(",") or not values:
            self._take()
            values.append(self._value())
        if not self._at(")"):
            raise self._expected("',' or ')'", _QUOTE_IT)
        self._take()
        return values

    def _value(self) -> Value:
        token = self._words("a value", "Write a word, a number, or any text in quotes.")
        # Quotes make a difference to numbers alone.
        value = Value(token.text)
        is_text = token.kind == "quoted" and value.number is not None
        return Value(token.text, is_text=True) if is_text else value

    def _words(self, expected: str, do: str) -> _Token:
        """Take a quoted text, or all bare words up to the next sign or keyword."""
        if not self._at("word", "quoted"):
            raise self._expected(expected, do)
        first = self._take()
        words = [first.text]
        while first.kind == "word" and self._at("word"):
            words.append(self._take().text)
        return replace(first, text=" ".join(words))

    def _expected(self, expected: str, do: str) -> InputError:
        token = self._token
        found = "there the query ends" if token.kind == "end" else f"found {quoted([token.text])}"
        return self._error(f"At position {token.position} {expected} was expected; {found}.", do)

    def _error(self, found: str, do: str) -> InputError:
        asked = f"The query {quoted([self._source])} was asked for."
        return InputError(Reason.BAD_QUERY, asked, found, do)


def _joined(kind: type[AllOf] | type[AnyOf], parts: list[Condition]) -> Condition:
    """Join parts; those that are joined in the same way already are taken apart."""
    if len(parts) == 1:
        return parts[0]
    flat = [
        inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,))
    ]
    return kind(tuple(flat))
