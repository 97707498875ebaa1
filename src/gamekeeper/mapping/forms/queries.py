"""Queries: which forms are meant, said by their metadata, their names and what they ask for.

A query compares keys of the metadata with values, and combines comparisons::

    Form Type = On-line and year >= 2029
    name contains bank or not (Sector in (Retail, 'Oil, gas'))
    has Date of Birth and Fee != none

- `KEY = VALUE`, `!=`, `<`, `<=`, `>`, `>=`, `contains`, and `in` with a list of values in
  parentheses. The key `name` is the form's own name.
- `has VARIABLE`: the form asks for the variable.
- `code of VARIABLE = CODE`, `!=`, `in`, `finer than CODE`, `coarser than CODE`: what it asks for it
  in. Finer and coarser leave the code itself out.
- `category of VARIABLE = CATEGORY`, or `in` with a list: the form offers that very category.
- `not` binds before `and`, and `and` before `or`; parentheses group.
- Names and values may be several words. Those that hold one of the words above, a sign of the
  language or a quote at their start go in quotes ('...' or "..."), with a quote in them doubled.
  The quoted key "name" is the key `name` of the metadata.

Text, keys and variables compare without regard to case, accents and white space. A value without
quotes that is a number compares as a number with numbers, also with those that a form has as
text; only numbers are below or above it. True and false are text. A form that does not have the
key (or has null there) fits no comparison, so not `KEY != VALUE` either; it does fit
`not KEY = VALUE`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.mapping.forms.conditions import (
    SIGNS,
    AllOf,
    AnyOf,
    Codes,
    Comparison,
    Condition,
    Has,
    Name,
    Not,
    OfVariable,
    Value,
)
from gamekeeper.mapping.forms.form import Form
from gamekeeper.wording import did_you_mean, folded, quoted

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


@dataclass(frozen=True, repr=False)
class Query:
    """A condition on forms; make one with `parse_query`.

    Equal queries say the same in the same order: spaces, needless quotes and parentheses and the
    case of `and`, `or` and the like make no difference.
    """

    condition: Condition

    def __repr__(self) -> str:
        return f"Query({self.text!r})"

    def __str__(self) -> str:
        return self.text

    def matches(self, form: Form, codes: Codes | None = None) -> bool:
        """Tell whether a form is meant; `codes` answers for the environment that it is in.

        Examples
        --------
        >>> query = parse_query("Type = on-line and not year < 2029")
        >>> query.matches(Form("Bank", metadata={"type": "On-Line", "year": 2030}))
        True
        """
        return self.condition.matches(form, codes)

    @cached_property
    def text(self) -> str:
        """The query in its one way of writing, which reads back as an equal query.

        Examples
        --------
        >>> parse_query("((YEAR  >=2029)) AND 'form type' in('a','b or c')").text
        "YEAR >= 2029 and form type in (a, 'b or c')"
        """
        return _text(self.condition)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the metadata that are compared, as they are written."""
        return frozenset(
            leaf.key.text
            for leaf in _leaves(self.condition)
            if isinstance(leaf, Comparison) and leaf.key is not None
        )

    @cached_property
    def variables(self) -> frozenset[str]:
        """The variables that forms are to ask for, as they are written."""
        return frozenset(
            leaf.variable.text
            for leaf in _leaves(self.condition)
            if isinstance(leaf, Has | OfVariable)
        )

    @cached_property
    def codes(self) -> frozenset[tuple[Name, str]]:
        """The codes of variables that are compared with."""
        return self._compared("code")

    @cached_property
    def categories(self) -> frozenset[tuple[Name, str]]:
        """The categories of variables that are asked for."""
        return self._compared("category")

    def _compared(self, what: str) -> frozenset[tuple[Name, str]]:
        return frozenset(
            (leaf.variable, value)
            for leaf in _leaves(self.condition)
            if isinstance(leaf, OfVariable) and leaf.what == what
            for value in leaf.values
        )

    def renamed_variable(self, old: str, new: str) -> Query:
        """Return the query that asks for a variable under its new name.

        Examples
        --------
        >>> parse_query("has age or has Sex").renamed_variable("Age", "Age (years)").text
        "has 'Age (years)' or has Sex"
        """
        return Query(_renamed(self.condition, folded(old), Name(new)))


def parse_query(text: str) -> Query:
    """Read a query; see the module for the language.

    Examples
    --------
    >>> parse_query("Form Type = On-line and year >= 2029").keys == {"Form Type", "year"}
    True
    >>> parse_query("Form Type = ")
    Traceback (most recent call last):
    gamekeeper.errors.InputError: The query 'Form Type = ' was asked for. At position 13 a value was
    expected; there the query ends. Write a word, a number, or any text in quotes.
    """
    return Query(_Parser(text).parse())


def unknown_names(query: Query, forms: Iterable[Form], variables: Iterable[str]) -> list[Problem]:
    """Return a problem for every key that no form has and every variable that is none.

    Examples
    --------
    >>> bank = Form("Bank", metadata={"year": 2029})
    >>> [str(problem) for problem in unknown_names(parse_query("yaer > 2020"), [bank], ["Age"])]
    ["key 'yaer': no form has it. Near to it: 'year'."]
    """
    keys = dict.fromkeys(key for form in forms for key in form.metadata)
    known = list(variables)
    problems = [
        Problem(
            Reason.UNKNOWN_NAME, f"key {quoted([key])}", "no form has it.", did_you_mean(key, keys)
        )
        for key in sorted(query.keys)
        if not Name(key).among(keys)
    ]
    problems += [
        Problem(
            Reason.UNKNOWN_NAME,
            f"variable {quoted([name])}",
            "there is no such variable.",
            did_you_mean(name, known),
        )
        for name in sorted(query.variables)
        if not Name(name).among(known)
    ]
    return problems


def _leaves(condition: Condition) -> Iterator[Comparison | Has | OfVariable]:
    if isinstance(condition, Comparison | Has | OfVariable):
        yield condition
    else:
        parts = (condition.part,) if isinstance(condition, Not) else condition.parts
        for part in parts:
            yield from _leaves(part)


def _renamed(condition: Condition, old: str, new: Name) -> Condition:
    match condition:
        case Comparison():
            return condition
        case Has(variable) | OfVariable(variable=variable):
            return replace(condition, variable=new) if folded(variable.text) == old else condition
        case Not(part):
            return Not(_renamed(part, old, new))
        case AllOf(parts) | AnyOf(parts):
            return replace(condition, parts=tuple(_renamed(part, old, new) for part in parts))


def _text(condition: Condition) -> str:
    match condition:
        case Comparison(key, sign, values):
            left = "name" if key is None else _written(key.text, quote=_is_taken(key.text))
            listed = ", ".join(_written(value.text, quote=value.is_text) for value in values)
            return f"{left} {sign} ({listed})" if sign == "in" else f"{left} {sign} {listed}"
        case Has(variable):
            return f"has {_written(variable.text)}"
        case OfVariable(what, variable, sign, values):
            told = ", ".join(_written(value) for value in values)
            told = f"({told})" if sign == "in" else told
            # A variable with such a word in its name would end there.
            ends = {"finer", "coarser"}.intersection(variable.text.casefold().split())
            return f"{what} of {_written(variable.text, quote=bool(ends))} {sign} {told}"
        case Not(part):
            return f"not {_grouped(part, AllOf, AnyOf)}"
        case AllOf(parts):
            return " and ".join(_grouped(part, AnyOf) for part in parts)
        case AnyOf(parts):
            return " or ".join(map(_text, parts))


def _is_taken(key: str) -> bool:
    """Tell whether a key would be read as something else without quotes."""
    words = folded(key).split()
    return words == ["name"] or words[:2] in (["code", "of"], ["category", "of"])


def _grouped(condition: Condition, *kinds: type[Condition]) -> str:
    text = _text(condition)
    return f"({text})" if isinstance(condition, kinds) else text


def _written(text: str, *, quote: bool = False) -> str:
    words = text.split()
    if not quote and words and " ".join(words) == text and all(map(_is_bare, words)):
        return text
    return "'" + text.replace("'", "''") + "'"


def _is_bare(word: str) -> bool:
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
        """Return the value after a sign, or the values in parentheses after `in`."""
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
