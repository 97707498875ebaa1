"""Rules of recoding applied to a coded file: which new category each old one becomes.

Missing cells stay missing. Every other category must have a place: one that lies in no band, or
fits no category of the environment, is an error that counts values and records and shows none.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from gamekeeper.algorithms.categories.bands import Band, BandStyle, parse_band
from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.data.coding.codebook import MISSING, Change, CodedVariable, Recode
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.reading.columns import matched_name, number_of
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.recoding_rules import (
    Bands,
    Ends,
    First,
    Groups,
    Level,
    Neighbours,
    OfCode,
    OfForm,
    RecodeRule,
    Together,
    Width,
    parse_recodes,
    read_bands,
    way_text,
)
from gamekeeper.mapping.variables.categorization import coarsenings
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.mapping.variables.sinks import SinkFinder, refuse_codes
from gamekeeper.wording import count_of, did_you_mean, folded, quoted

Sinks = Mapping[str, Sequence[Sequence[int]]]
"""By variable, the sinks of each code from 1 on, where the codes are those of a scenario."""


@dataclass(frozen=True, slots=True)
class Recoded:
    """A file with variables made coarser, and what that did, in words."""

    table: CodedTable
    rules: tuple[RecodeRule, ...]
    changes: tuple[Change, ...]
    recodes: tuple[Recode, ...] = ()

    @property
    def told(self) -> tuple[str, ...]:
        """What was done to each variable, in words."""
        return tuple(change.text for change in self.changes)


def recode_table(
    table: CodedTable,
    rules: Sequence[RecodeRule | str],
    *,
    environment: Environment | None = None,
    sinks: Sinks | None = None,
    numbers: Collection[str] = (),
    decimal: str = ".",
    strict: bool = True,
) -> Recoded:
    """Make variables of a coded file coarser; no record is copied and none is written.

    Parameters
    ----------
    rules
        One per variable, as objects or as they are typed: "Age=top 80".
    environment, sinks
        Where levels, codes and forms are looked up, and what the codes of variables mean there, where
        that is known.
    numbers
        Variables whose small whole numbers are numbers, and no codes of bands.
    strict
        Whether groups may only name categories that occur; not for a file beside the first.

    Examples
    --------
    >>> from gamekeeper.data.coding.source_coding import code_frame
    >>> import pyarrow as pa
    >>> people = code_frame(pa.table({"age": ["34", "81", "90"]}), ["age"])
    >>> recode_table(people, ["age=top 80"]).table.codebook["age"].words
    ('missing', '34', '80+')
    """
    read = read_rules(rules)
    recodes: list[Recode] = []
    changes: list[Change] = []
    problems: list[Problem] = []
    for rule in read:
        try:
            name = matched_name(rule.variable, table.codebook.names)
        except InputError as error:
            problems += error.problems
            continue
        variable = table.codebook[name]
        work = _Work(
            table, variable, environment, (sinks or {}).get(name), decimal, name in numbers, strict,
        )  # fmt: skip
        try:
            recode = work.recode(rule)
        except InputError as error:
            problems += error.problems or [
                Problem(error.reason, f"recode of {quoted([name])}", error.found, error.do)
            ]
            continue
        recodes.append(recode)
        before, after = variable.n_codes - 1, len(recode.words) - 1
        changes.append(Change(name, before, after, way_text(rule.way)))
    asked = f"{count_of(len(read), 'variable was', 'variables were')} to be recoded."
    refuse(problems, asked, f"{count_of(len(problems), 'fault was', 'faults were')} found.")
    return Recoded(table.recoded(recodes), read, tuple(changes), tuple(recodes))


def read_rules(rules: Sequence[RecodeRule | str]) -> tuple[RecodeRule, ...]:
    """Return rules that are given as objects or as they are typed; one error has all faults."""
    return parse_recodes([rule if isinstance(rule, str) else rule.text for rule in rules])


def place_of(variable: CodedVariable, code: int, decimal: str = ".") -> Band | Fraction | None:
    """Return the number or the band that a category is; the words of a label come first.

    Examples
    --------
    >>> place_of(CodedVariable.of_values("age", ["34", "80+"]), 1)
    Fraction(34, 1)
    """
    for text in dict.fromkeys((variable.words[code], variable.values[code])):
        number = number_of(text, decimal)
        if number is not None:
            return number
        try:
            return parse_band(text, BandStyle.INCLUSIVE)
        except InputError:
            continue
    return None


def known_variable(name: str, environment: Environment | None) -> Variable | None:
    """Return the variable of the environment that a column is, if there is one."""
    if environment is None:
        return None
    asked = folded(name.replace("_", " "))
    names = [each for each in environment.variables if folded(each) == asked]
    return environment.variable(names[0]) if len(names) == 1 else None


def sink_finder(
    known: Variable, column: CodedVariable, sinks: Sequence[Sequence[int]] | None, decimal: str,
    *, is_number: bool,
) -> Callable[[int], Sequence[int]]:  # fmt: skip
    """Return what finds the sinks of a code: those given of each code from 1 on, else by its text."""
    if sinks is not None:
        return lambda code: sinks[code - 1]
    finder = SinkFinder(known, decimal)
    if not is_number:
        refuse_codes(finder, column)
    return lambda code: finder.of(column, code)


@dataclass(frozen=True, slots=True)
class _Work:
    """How the codes of one variable are recoded, and where its levels, codes and forms are looked up."""

    table: CodedTable
    variable: CodedVariable
    environment: Environment | None
    sinks: Sequence[Sequence[int]] | None
    decimal: str
    is_number: bool
    strict: bool

    @property
    def codes(self) -> range:
        """The codes of values."""
        return range(MISSING + 1, self.variable.n_codes)

    def recode(self, rule: RecodeRule) -> Recode:
        way = rule.way
        match way:
            case Bands():
                return self._by_bands(dict(zip(way.bands, read_bands(way.bands), strict=True)))
            case Width():
                return self._by_width(way)
            case Ends():
                return self._by_ends(way)
            case Groups():
                return self._by_groups(way)
            case First():
                return self._made({c: self.variable.values[c][: way.letters] for c in self.codes})
            case Neighbours():
                return self._by_neighbours(way.number)
            case Together():
                return self._made(dict.fromkeys(self.codes, "any"))
            case Level() | OfCode() | OfForm():
                return self._by_environment(way)

    def _made(self, labels: Mapping[int, str], order: Sequence[str] = ()) -> Recode:
        """Return the recode that gives codes these labels; labels of `order` come first."""
        words = [self.variable.words[MISSING], *(labels[code] for code in self.codes)]
        return Recode.by_words(self.variable.name, words, order)

    def _place(self, code: int) -> Band | Fraction | None:
        return place_of(self.variable, code, self.decimal)

    def _by_bands(self, bands: Mapping[str, Band]) -> Recode:
        labels: dict[int, str] = {}
        for code in self.codes:
            place = self._place(code)
            for label, band in bands.items():
                if place is not None and _holds(band, place):
                    labels[code] = label
        self._require_all(labels, "lie in none of the bands")
        return self._made(labels, list(bands))

    def _by_width(self, way: Width) -> Recode:
        whole = way.width.denominator == way.start.denominator == 1
        style = BandStyle.INCLUSIVE if whole else BandStyle.HALF_OPEN
        labels: dict[int, str] = {}
        lows: dict[Fraction, str] = {}
        for code in self.codes:
            place = self._place(code)
            at = place.low if isinstance(place, Band) else place
            if place is None or at is None or abs(at) > sys.float_info.max:
                continue
            low = way.start + way.width * math.floor((Fraction(at) - way.start) / way.width)
            band = Band(_bound(low), _bound(low + way.width))
            if _holds(band, place):
                lows[low] = labels[code] = band.name(style)
        self._require_all(labels, f"lie in no band of width {way.width}")
        return self._made(labels, [lows[low] for low in sorted(lows)])

    def _by_ends(self, way: Ends) -> Recode:
        labels: dict[int, str] = {}
        across: list[int] = []
        low = None if way.bottom is None else f"up to {_shown(way.bottom)}"
        high = None if way.top is None else f"{_shown(way.top)}+"
        for code in self.codes:
            place = self._place(code)
            labels[code] = self.variable.words[code]
            if place is None:
                continue
            ends = (place.low, place.high) if isinstance(place, Band) else (place, place)
            # The upper end of a band is not in it.
            last = ends[1] - 1 if isinstance(place, Band) else place
            if low is not None and way.bottom is not None and last <= way.bottom:
                labels[code] = low
            elif high is not None and way.top is not None and ends[0] >= way.top:
                labels[code] = high
            elif (way.bottom is not None and ends[0] <= way.bottom) or (
                way.top is not None and last >= way.top
            ):
                across.append(code)
        if across:
            raise self._left(across, "are bands that lie across the end")
        return self._made(labels, [low] if low else [])

    def _by_groups(self, way: Groups) -> Recode:
        by_text: dict[str, set[int]] = {}
        for code in self.codes:
            for text in (self.variable.words[code], self.variable.values[code]):
                by_text.setdefault(text, set()).add(code)
                by_text.setdefault(folded(text), set()).add(code)
        labels = {code: self.variable.words[code] for code in self.codes}
        problems: list[Problem] = []
        taken: dict[int, str] = {}
        for name, members in way.groups:
            label = name or " or ".join(members)
            for member in members:
                codes = by_text.get(member) or by_text.get(folded(member)) or set()
                if len(codes) != 1:
                    if self.strict or codes:
                        found = "could be several categories." if codes else "is no category of it."
                        problems.append(self._unknown(member, found))
                    continue
                (code,) = codes
                if taken.setdefault(code, label) != label:
                    problems.append(self._unknown(member, "is in two groups."))
                labels[code] = label
        stay = {folded(word) for code, word in labels.items() if code not in taken}
        problems += [
            self._unknown(label, "is the name of a category that is not in the group.")
            for label in dict.fromkeys(taken.values())
            if folded(label) in stay
        ]
        refuse(problems, "Groups were made by hand.", "")
        return self._made(labels)

    def _unknown(self, typed: str, found: str) -> Problem:
        where = f"recode of {quoted([self.variable.name])}"
        do = "Write categories as the file has them; 'gamekeeper look FILE --values' lists them."
        return Problem(Reason.UNKNOWN_NAME, where, f"{quoted([typed])} {found}", do)

    def _by_neighbours(self, number: int) -> Recode:
        is_ordered = bool(self.variable.order) or all(
            self._place(code) is not None for code in self.codes
        )
        if not is_ordered:
            found = "its categories are not numbers or bands, and have no order."
            do = "Name groups: North: A | B; South: C | D."
            raise InputError(Reason.BAD_OPTION, "Neighbours were to be put together.", found, do)
        labels: dict[int, str] = {}
        ordered = sorted(self.codes, key=self._order)
        for start in range(0, len(ordered), number):
            run = ordered[start : start + number]
            first, last = (self.variable.words[code] for code in (run[0], run[-1]))
            labels |= dict.fromkeys(run, first if len(run) == 1 else f"{first} to {last}")
        return self._made(labels)

    def _order(self, code: int) -> tuple[float | Fraction, int]:
        if self.variable.order:
            return 0, code
        place = self._place(code)
        low = place.low if isinstance(place, Band) else place
        return (0 if low is None else low), code

    def _by_environment(self, way: Level | OfCode | OfForm) -> Recode:
        known = self._known()
        find = sink_finder(known, self.variable, self.sinks, self.decimal, is_number=self.is_number)
        partition = self._partition(known, way)
        if isinstance(partition, Arbitrary):
            return self._made({code: self.variable.words[code] for code in self.codes})
        words = known.words(partition)
        block = partition.dense().tolist()
        labels: dict[int, str] = {}
        for code in self.codes:
            blocks = {block[sink] for sink in find(code)}
            if len(blocks) == 1:
                labels[code] = words[blocks.pop()]
        self._require_all(labels, f"fit no single category of {quoted([way_text(way)])}")
        return self._made(labels, words)

    def _known(self) -> Variable:
        if self.environment is None:
            raise InputError(
                Reason.NOTHING_GIVEN,
                "A level, code or form was asked for.",
                "it is kept in an environment, and none is given.",
                "Name its store or folder (--environment).",
            )
        known = known_variable(self.variable.name, self.environment)
        if known is None:
            raise InputError(
                Reason.UNKNOWN_NAME,
                "A level, code or form was asked for.",
                "the environment has no such variable.",
                did_you_mean(self.variable.name, list(self.environment.variables)),
            )
        return known

    def _partition(self, known: Variable, way: Level | OfCode | OfForm) -> Partition | Arbitrary:
        assert self.environment is not None
        if isinstance(way, OfCode):
            return self.environment.register(known.name).meaning(way.code)
        if isinstance(way, OfForm):
            found = self.environment.categorization(way.form, known.name)
            if found.partition is None:
                asked = "The categories of a form were asked for."
                do = "Take another form."
                raise InputError(Reason.BAD_OPTION, asked, f"they are not sound: {found.fault}", do)
            return found.partition
        n_sinks = len(known.graph.sinks)
        start = Partition.from_labels(range(n_sinks))
        if self.sinks is not None:
            start = Partition.from_blocks([list(part) for part in self.sinks], n_sinks)
        steps = list(coarsenings(known, start))
        if way.steps > len(steps):
            raise InputError(
                Reason.BAD_OPTION,
                "A level was asked for.",
                f"its partition graph has {count_of(len(steps), 'level')} above what is there.",
                "Give a smaller number, or a code (gamekeeper graph).",
            )
        return steps[way.steps - 1]

    def _require_all(self, labels: Mapping[int, str], what: str) -> None:
        left = [code for code in self.codes if code not in labels]
        if left:
            raise self._left(left, what)

    def _left(self, codes: Sequence[int], what: str) -> InputError:
        counts = self.table.counts([self.variable.name])[self.variable.name]
        records = count_of(int(counts[list(codes)].sum()), "record")
        found = f"{count_of(len(codes), 'value')} in {records} {what}."
        do = "Widen the recoding, or read them as missing (--missing-value)."
        return InputError(Reason.UNMAPPED_VALUES, "A recoding was asked for.", found, do)


def _holds(band: Band, place: Band | Fraction) -> bool:
    if isinstance(place, Band):
        return band.holds(place)
    return band.low <= place < band.high


def _bound(number: Fraction) -> int | Fraction:
    return number.numerator if number.denominator == 1 else number


def _shown(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.15g}"
