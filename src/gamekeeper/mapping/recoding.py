"""Which categories the texts of a file mean, and which new category each becomes by rules of recoding.

Missing cells stay missing. Every other category must have a place: one that lies in no band, or
fits no category of the environment, is an error that counts values and records and shows none.

A text means a category by its name, a number or a band by its place. But a column of age groups that
are coded 1 to 8 reads like ages of 1 to 8. Numbers may be codes where they are whole, few and small
(25 at most) and hardly leave a gap (half of the numbers up to the largest occur, so that an empty
band or two do not matter), while the variable goes further: beyond 10, or in bands wider than 1.
Which of the two they are only a person can tell.
"""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from gamekeeper.algorithms.categories.bands import Band, BandStyle, parse_band
from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition, bits
from gamekeeper.data.coding.codebook import ABOVE, MISSING, Change, CodedVariable, Recode
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.reading.columns import matched_name, number_of
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping import recoding_rules
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.variables.categorization import coarsenings
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.wording import count_of, did_you_mean, folded, quoted

_LARGEST_CODE = 25
_FEW = 10
_MISSING = frozenset(number for number in ABOVE if number > _LARGEST_CODE)


class SinkFinder:
    """Finds the sinks that a text stands for.

    A text is a category of the variable by its name, case and accents aside; on the interval scale
    a number is the band that it lies in, and a band whatever it overlaps.
    """

    def __init__(self, variable: Variable, decimal: str = ".") -> None:
        self.variable = variable
        self.decimal = decimal
        self._names: dict[str, str | None] = {}
        for name in variable.graph.categories:
            # Two categories that fold to the same are told apart by their exact names only.
            fold = folded(name)
            self._names[fold] = None if fold in self._names else name

    def sinks(self, text: str) -> list[int]:
        """Return the sinks of a text, by their places; none where it is not known."""
        graph = self.variable.graph
        name = self.variable.resolve(text) or self._names.get(folded(text))
        if name is not None:
            return bits(graph.sink_set(name))
        if self.variable.space is None:
            return []
        bands = [self.variable.bands[sink] for sink in graph.sinks]
        number = number_of(text, self.decimal)
        if number is not None:
            return [place for place, band in enumerate(bands) if band.low <= number < band.high]
        try:
            asked = parse_band(text, self.variable.style).within(self.variable.space)
        except InputError:
            return []
        if not self.variable.space.holds(asked):
            return []
        return [place for place, band in enumerate(bands) if band.overlap(asked) is not None]

    def texts(self, column: CodedVariable, code: int) -> list[str]:
        """Return what a code of a column is looked up by: its words, then its value.

        The value of words that stand for another thing, such as 7 for "65 and over", is no number.
        """
        word, value = column.words[code], column.values[code]
        return [word] if word == value or self.variable.space is not None else [word, value]

    def of(self, column: CodedVariable, code: int) -> list[int]:
        """Return the sinks of a code of a column; none where it is not known."""
        return next((found for text in self.texts(column, code) if (found := self.sinks(text))), [])

    def may_be_codes(self, column: CodedVariable) -> list[int]:
        """Return the codes of a column that are read as numbers and may be codes of bands.

        Examples
        --------
        >>> age = SinkFinder(Variable.of_bands("Age", ["0-15", "16-64", "65+"]))
        >>> age.may_be_codes(CodedVariable.of_values("age", ["1", "2", "3"]))
        [1, 2, 3]
        >>> age.may_be_codes(CodedVariable.of_values("age", ["1", "2", "34"]))
        []
        """
        if self.variable.space is None:
            return []
        places: dict[int, list[int]] = {}
        numbers: set[Fraction] = set()
        for code in range(MISSING + 1, column.n_codes):
            text = column.values[code]
            number = number_of(text, self.decimal) if column.words[code] == text else None
            # What lies outside the range, such as -9, and what is no number is asked about anyway.
            if number is None or number in _MISSING or not (found := self.sinks(text)):
                continue
            if number < 0 or number > _LARGEST_CODE or number.denominator != 1:
                return []
            numbers.add(number)
            places[code] = found
        if not numbers or 2 * len(numbers) < max(numbers):
            return []
        bands = [self.variable.bands[sink] for sink in self.variable.graph.sinks]
        cut = max((band.low for band in bands if math.isfinite(band.low)), default=0)
        is_count = cut <= _FEW and all(
            bands[place].high - bands[place].low == 1 or bands[place].low == cut
            for found in places.values()
            for place in found
        )
        return [] if is_count else list(places)


def refuse_codes(finder: SinkFinder, column: CodedVariable) -> None:
    """Refuse a column whose numbers may be codes of bands."""
    found, do = asked_of_codes(finder, column)
    if found:
        asked = "The values of a column were to be looked up in the environment."
        raise InputError(Reason.UNMAPPED_VALUES, asked, found, do)


def asked_of_codes(finder: SinkFinder, column: CodedVariable) -> tuple[str, str]:
    """Return what was found and what to say, where numbers of a column may be codes of bands."""
    codes, name = finder.may_be_codes(column), finder.variable.name
    return codes_or_numbers(column.name, name, len(codes)) if codes else ("", "")


def codes_or_numbers(
    column: str, variable: str, n_values: int, records: str = ""
) -> tuple[str, str]:
    """Return the question whether small whole numbers are codes or numbers, and how it is answered."""
    n_numbers = count_of(n_values, "small whole number") + (f" in {records}" if records else "")
    found = (
        f"the column {quoted([column])} has {n_numbers}, which may be codes of bands or numbers of"
        f" {quoted([variable])}."
    )
    do = (
        f"Say which: if they are numbers, add --numbers {shlex.quote(variable)}; if they are codes,"
        " give the category of each by --values."
    )
    return found, do


Sinks = Mapping[str, Sequence[Sequence[int]]]
"""By variable, the sinks of each code from 1 on, where the codes are those of a scenario."""


@dataclass(frozen=True, slots=True)
class Recoded:
    """A file with variables made coarser, and what that did, in words."""

    table: CodedTable
    rules: tuple[recoding_rules.RecodeRule, ...]
    changes: tuple[Change, ...]
    recodes: tuple[Recode, ...] = ()

    @property
    def told(self) -> tuple[str, ...]:
        """What was done to each variable, in words."""
        return tuple(change.text for change in self.changes)


def recode_table(
    table: CodedTable,
    rules: Sequence[recoding_rules.RecodeRule | str],
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
        changes.append(Change(name, before, after, recoding_rules.way_text(rule.way)))
    asked = f"{count_of(len(read), 'variable was', 'variables were')} to be recoded."
    refuse(problems, asked, f"{count_of(len(problems), 'fault was', 'faults were')} found.")
    return Recoded(table.recoded(recodes), read, tuple(changes), tuple(recodes))


def read_rules(
    rules: Sequence[recoding_rules.RecodeRule | str],
) -> tuple[recoding_rules.RecodeRule, ...]:
    """Return rules that are given as objects or as they are typed; one error has all faults."""
    return recoding_rules.parse_recodes(
        [rule if isinstance(rule, str) else rule.text for rule in rules]
    )


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

    def recode(self, rule: recoding_rules.RecodeRule) -> Recode:
        way = rule.way
        match way:
            case recoding_rules.Bands():
                return self._by_bands(
                    dict(zip(way.bands, recoding_rules.read_bands(way.bands), strict=True))
                )
            case recoding_rules.Width():
                return self._by_width(way)
            case recoding_rules.Ends():
                return self._by_ends(way)
            case recoding_rules.Groups():
                return self._by_groups(way)
            case recoding_rules.First():
                return self._made({c: self.variable.values[c][: way.letters] for c in self.codes})
            case recoding_rules.Neighbours():
                return self._by_neighbours(way.number)
            case recoding_rules.Together():
                return self._made(dict.fromkeys(self.codes, "any"))
            case recoding_rules.Level() | recoding_rules.OfCode() | recoding_rules.OfForm():
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

    def _by_width(self, way: recoding_rules.Width) -> Recode:
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

    def _by_ends(self, way: recoding_rules.Ends) -> Recode:
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

    def _by_groups(self, way: recoding_rules.Groups) -> Recode:
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

    def _by_environment(
        self, way: recoding_rules.Level | recoding_rules.OfCode | recoding_rules.OfForm
    ) -> Recode:
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
        self._require_all(
            labels, f"fit no single category of {quoted([recoding_rules.way_text(way)])}"
        )
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

    def _partition(
        self,
        known: Variable,
        way: recoding_rules.Level | recoding_rules.OfCode | recoding_rules.OfForm,
    ) -> Partition | Arbitrary:
        assert self.environment is not None
        if isinstance(way, recoding_rules.OfCode):
            return self.environment.register(known.name).meaning(way.code)
        if isinstance(way, recoding_rules.OfForm):
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
