"""Labels that may be sums of each other: which are suspected, cleared and questioned, and which merely look so."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gamekeeper.attack.tables.bounds import bound_cells
from gamekeeper.data.tables.axes import Axis
from gamekeeper.data.tables.count_file import read_counts
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.release import Release, make_release
from gamekeeper.data.tables.release_file import join_releases, read_release, write_release
from gamekeeper.data.tables.subtotals import (
    begins_alike,
    find_subtotals,
    is_sum_of_all,
    is_sum_of_some,
    nested_bands,
    nested_codes,
    nested_ranges,
)
from gamekeeper.errors import InputError, Reason

ISSUE = "code,n\nA,5\nA01,3\nA02,*\n"


def release(labels, counts, *, total=None, scheme="exact", disjoint=True):
    """Publish lines of counts by label, with the total of each line where it is given."""
    counts = np.array(counts, object)
    axes = {"code": list(labels), "line": [f"line {k}" for k in "abcdefghijkl"[: len(counts)]]}
    tables = [{"margin": ["line", "code"], "counts": counts.tolist(), "scheme": scheme}]
    if total is not None:
        tables.append({"margin": ["line"], "counts": list(total), "scheme": scheme})
    return Release.typed(axes, tables, disjoint=disjoint)


def asked_about(made):
    """Return the labels of the axis that are questioned, with why."""
    return {one.whole: one.why for one in find_subtotals(made.axes[0], made.published)}


def question(use, *args, **options):
    with pytest.raises(InputError) as refused:
        use(*args, **options)
    assert refused.value.reason is Reason.POSSIBLE_SUBTOTALS
    return str(refused.value)


def test_what_is_hidden_under_a_sum_is_not_called_open(tmp_path):
    file = tmp_path / "codes.csv"
    file.write_text(ISSUE, encoding="utf-8")
    said = question(read_counts, file)
    for word in ("codes.csv", "axis 'code'", "'A' ", "'A01', 'A02'", "--disjoint", "--total"):
        assert word in said
    assert bound_cells(read_counts(file, total="A")).upper.tolist() == [3, 2]
    found = bound_cells(read_counts(file, disjoint=["code"]))
    assert found.lower.tolist() == [5, 3, 0]


@pytest.mark.parametrize(
    "use",
    [
        lambda **options: Release.typed(
            {"code": ["A", "A01", "A02"]}, [{"margin": ["code"], "counts": [5, 3, None]}], **options
        ),
        lambda **options: CountTable.typed({"code": ["A", "A01", "A02"]}, [5, 3, 2], **options),
    ],
)
def test_the_library_asks_as_the_prompt_does(use):
    assert "'A' may hold" in question(use)
    assert use(disjoint=["code"])
    assert use(disjoint=True)
    with pytest.raises(InputError) as refused:
        use(disjoint=["cod"])
    assert refused.value.reason is Reason.UNKNOWN_NAME


def test_counts_from_records_are_disjoint_and_say_so_in_the_file(tmp_path):
    truth = CountTable((Axis("code", ("A", "A01", "A02")),), np.array([5, 3, 0]))
    made = make_release(truth, [("code",)])
    assert made.disjoint == ("code",)
    assert made.doubted == ("code",)
    file = tmp_path / "release.json"
    write_release(made, file)
    assert read_release(file).disjoint == ("code",)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"disjoint": ["code"],\n', ""), encoding="utf-8")
    assert "release.json" in question(read_release, file)
    assert read_release(file, disjoint=["code"]).disjoint == ("code",)
    for wrong, reason in (
        ('"code"', Reason.WRONG_SCHEMA), ("[3]", Reason.WRONG_SCHEMA),
        ('["cod"]', Reason.UNKNOWN_NAME),
    ):  # fmt: skip
        file.write_text(text.replace('["code"],\n"pub', f'{wrong},\n"pub'), encoding="utf-8")
        with pytest.raises(InputError) as refused:
            read_release(file)
        assert refused.value.reason is reason


def test_releases_are_questioned_together():
    tables = [{"margin": ["code"], "counts": [5, 3, 4]}, {"margin": ["code"], "counts": [9, 3, 4]}]
    one, two = (
        Release.typed({"code": ["A", "A01", "A02"]}, [table], disjoint=True) for table in tables
    )
    assert join_releases([one, two]).disjoint == ("code",)
    join_releases([one, two], disjoint=())
    assert "Several tables" in question(join_releases, [two, two], disjoint=())


@pytest.mark.parametrize(
    ("labels", "counts", "wanted"),
    [
        (["A", "A01", "A02"], [[5, 3, 2]], {"A": "code"}),
        (["A", "A01", "A02"], [[9, 3, 2]], {"A": "code"}),
        (["A", "A01", "A02"], [[4, 3, 2]], {}),
        (["A", "A01", "A02"], [[9, 3, 2], [None, 1, 4], [2, 3, None]], {}),
        (["A", "A01", "A02"], [[None, 3, 2]], {"A": "code"}),
        (["f", "m", "All"], [[5, 3, 8]], {"All": "name"}),
        (["f", "m", "All"], [[5, 3, 9]], {"All": "name"}),
        (["f", "m", "All"], [[5, 3, 9], [4, 1, 3]], {}),
        (["f", "m", "All"], [[5, 3, None]], {"All": "name"}),
        (["Car", "Bike", "Both"], [[5, 9, 6]], {}),
        (["A", "B", "C", "T"], [[5, 9, 6, 1]], {}),
        (["x", "y", "x total", "z"], [[5, 9, 6, 20]], {"x total": "name"}),
        (["x", "y", "x total", "z"], [[5, 9, 2, 20]], {}),
        (["0-14", "0-4", "5-14"], [[5, 3, 2]], {"0-14": "band"}),
        (["0-14", "0-4", "5-14"], [[2, 3, 2]], {}),
        (["B-E", "B", "C"], [[5, 3, 2]], {"B-E": "range"}),
        (["B-E", "B", "C"], [[2, 3, 2]], {}),
        (["1", "11", "12", "2"], [[25, 14, 11, 3], [36, 20, 16, 9]], {"1": "counts"}),
        (["1", "11", "12", "2"], [[25, 14, 11, 3], [36, 20, 15, 9]], {}),
        (["UK", "North", "South"], [[25, 14, 11], [36, 20, 16]], {"UK": "counts"}),
        (["UK", "North", "South"], [[25, 14, 11], [36, 20, 17]], {}),
    ],
)
def test_labels_suspect_and_counts_clear(labels, counts, wanted):
    assert asked_about(release(labels, counts)) == wanted


def test_a_margin_that_is_the_sum_of_all_labels_clears_them():
    labels = ["A41", "A41.0", "A41.9", "B"]
    counts = [[9, 3, 2, 5], [7, 0, 1, 3]]
    assert asked_about(release(labels, counts)) == {"A41": "code"}
    assert asked_about(release(labels, counts, total=[19, 11])) == {}
    assert asked_about(release(labels, counts, total=[14, 10])) == {"A41": "code"}
    assert asked_about(release(labels, counts, total=[16, 10])) == {"A41": "code"}
    hidden = [[9, 3, None, 5], [7, 0, None, 3]]
    assert asked_about(release(labels, hidden, total=[19, 11])) == {"A41": "code"}


def test_rounding_is_given_its_due():
    labels = ["A", "A01", "A02"]
    assert asked_about(release(labels, [[6, 3, 6]], scheme="conventional:3")) == {"A": "code"}
    assert asked_about(release(labels, [[6, 9, 6]], scheme="conventional:3")) == {}
    assert asked_about(release(labels, [[5, 10, 0]], scheme="random:5")) == {"A": "code"}
    assert asked_about(release(labels, [[5, 15, 0]], scheme="random:5")) == {}


def test_groups_of_a_release_are_no_labels_of_its_base():
    made = Release.typed(
        {"code": ["A01", "A02", "B"]},
        [
            {"margin": ["code"], "counts": [3, None, 4]},
            {
                "margin": ["code"], "counts": [5, 4],
                "groups": {"code": {"A": ["A01", "A02"], "B": ["B"]}},
            },
        ],
    )  # fmt: skip
    assert bound_cells(made).upper.tolist() == [3, 2, 4]


WORDS = ["North", "South", "East", "West", "Isles", "Hills", "Coast", "City", "Forest", "Lakes"]


@st.composite
def plain_labels(draw, n_labels):
    kind = draw(st.sampled_from(["numbers", "bands", "words", "numbered", "letters"]))
    start = draw(st.integers(0, 95))
    if kind == "numbers":
        return [str(start + k) for k in range(n_labels)]
    if kind == "bands":
        width = draw(st.integers(2, 10))
        return [f"{start + k * width}-{start + (k + 1) * width - 1}" for k in range(n_labels - 1)] + [
            f"{start + (n_labels - 1) * width}+"
        ]  # fmt: skip
    if kind == "words":
        return WORDS[:n_labels]
    if kind == "numbered":
        return [f"Q{start + k}" for k in range(n_labels)]
    return list("abcdefghij"[:n_labels])


@given(st.data(), st.integers(2, 8), st.integers(1, 6), st.sampled_from(["exact", "random:3"]))
def test_plain_tables_raise_no_alarm(data, n_labels, n_lines, scheme):
    labels = data.draw(plain_labels(n_labels))
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    # Sizes that differ little: no label is likely to be as large as others together by chance.
    counts = rng.integers(40, 70, (n_lines, n_labels)) * 3
    made = release(labels, counts, scheme=scheme)
    assert asked_about(made) == {}


@given(
    st.integers(1, 4),
    st.integers(2, 5),
    st.integers(1, 4),
    st.integers(0, 30),
    st.sampled_from(["exact", "conventional:3", "random:5", "suppressed:5"]),
    st.integers(0, 2**32 - 1),
)
def test_codes_with_their_sums_always_raise_it(n_stems, n_parts, n_lines, mean, scheme, seed):
    rng = np.random.default_rng(seed)
    stems = list("ABCD"[:n_stems])
    labels = [label for stem in stems
              for label in (stem, *(f"{stem}{k:02}" for k in range(n_parts)))]  # fmt: skip
    leaves = rng.poisson(mean, (n_lines, n_stems, n_parts))
    counts = np.concatenate([leaves.sum(axis=2)[:, :, None], leaves], axis=2).reshape(n_lines, -1)
    order = rng.permutation(len(labels))
    axes = (Axis("line", tuple(f"line {k}" for k in "abcd"[:n_lines])),
            Axis("code", tuple(labels[k] for k in order)))  # fmt: skip
    made = make_release(CountTable(axes, counts[:, order]), [("line", "code")], scheme, seed=seed)
    found = {one.whole for one in find_subtotals(axes[1], made.published)}
    assert found == set(stems)


@given(st.integers(2, 6), st.integers(3, 8), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_counts_that_add_up_always_raise_it(n_parts, n_lines, n_others, seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(25, (n_lines, 1 + n_parts + n_others))
    counts[:, 0] = counts[:, 1 : 1 + n_parts].sum(axis=1)
    labels = ["Land", *(f"p{letter}" for letter in "abcdef"[:n_parts]), *WORDS[:n_others]]
    order = rng.permutation(len(labels)) if len(labels) <= 10 else np.arange(len(labels))
    made = release([labels[k] for k in order], counts[:, order])
    assert asked_about(made).get("Land") == "counts"


@given(st.integers(0, 2**32 - 1), st.sampled_from(["Total", "Gesamt", "All ages", "_T", "Sum"]))
def test_a_named_total_always_raises_it_unless_it_is_the_label_of_totals(seed, word):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(3, 5)
    assume(counts.sum())
    rows = [f"{label},{count}" for label, count in zip("abcde", counts, strict=True)]
    text = "\n".join(["age,n", *rows, f"{word},{counts.sum()}"]) + "\n"
    with TemporaryDirectory() as folder:
        file = Path(folder, "counts.csv")
        file.write_text(text, encoding="utf-8")
        assert f"'{word}'" in question(read_counts, file, total=None)
        assert len(read_counts(file, total=["Other", word]).published) == 2


CODES = {
    "chapters and codes": ("A A01 A02 B", {"A": "A01 A02"}),
    "one part is enough": ("A A01 B", {"A": "A01"}),
    "ICD": ("A41 A41.0 A41.9", {"A41": "A41.0 A41.9"}),
    "ICD with one part": ("A41 A41.9", {"A41": "A41.9"}),
    "NUTS": ("DE DE1 DE11 DE12 DE2 DE21", {"DE": "DE1 DE2", "DE1": "DE11 DE12"}),
    "NUTS with letters": ("FR FRB FRC FRK", {"FR": "FRB FRC FRK"}),
    "NUTS of two levels": ("FR21 FR22 FR211 FR212 FR221 FR222",
                           {"FR21": "FR211 FR212", "FR22": "FR221 FR222"}),
    "NACE": ("10 10.1 10.11 10.12 10.2", {"10": "10.1 10.2", "10.1": "10.11 10.12"}),
    "leading zeros": ("01 01001 01003 02 02013", {"01": "01001 01003"}),
    "letters after a letter": ("A B Ba Bb Bc C", {"B": "Ba Bb Bc"}),
    "letters after a number": ("1 1a 1b 2", {"1": "1a 1b"}),
    "underscores": ("CH CH_PAR CH_CPL", {"CH": "CH_PAR CH_CPL"}),
    "countries": ("GB GB-ENG GB-SCT", {"GB": "GB-ENG GB-SCT"}),
    "quarters": ("2019 2019Q1 2019Q2", {"2019": "2019Q1 2019Q2"}),
    "months": ("2019 2019-01 2019-02", {"2019": "2019-01 2019-02"}),
    "occupations": ("1 11 12 13 2 21 22 3 31", {"1": "11 12 13", "2": "21 22"}),
    "occupations of three levels": (
        "1 11 111 112 12 121 2 21 211 212", {"1": "11 12", "11": "111 112", "21": "211 212"}
    ),
    "paragraphs": ("1.1 1.1.1 1.1.2", {"1.1": "1.1.1 1.1.2"}),
}  # fmt: skip
PHRASES = {
    "colons": ["White", "White: British", "White: Irish"],
    "brackets": ["Employed", "Employed (full-time)", "Employed (part-time)"],
    "commas": ["Employed", "Employed, full-time", "Employed, part-time"],
    "dashes": ["Born in UK", "Born in UK - England", "Born in UK - Wales"],
}
APART = {
    "numbers": [str(number) for number in range(1, 31)],
    "some numbers": ["1", "2", "10", "15", "100"],
    "numbers by tens": ["1", "2", "3", "10", "11", "12", "20", "30"],
    "ages that are there": ["1", "2", "3", "13", "14", "17", "21", "23", "30", "35"],
    "coins": ["1", "2", "5", "10", "20", "50", "100", "200"],
    "numbers with decimals": ["1.0", "2.0", "10.0", "100.0"],
    "half rooms": ["1", "1.5", "2", "2.5"],
    "numbered regions": [f"R{number}" for number in range(1, 13)],
    "numbered wards": ["Ward 1", "Ward 2", "Ward 10", "Ward 11"],
    "numbered classes": ["tr1", "tr2", "tr3", "tr10"],
    "padded numbers": [f"{number:03}" for number in range(101)],
    "ages and a last one": [f"{number:02}" for number in range(100)] + ["100"],
    "versions": ["1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "1.10", "1.11"],
    "bands": ["0-4", "5-9", "10-14", "15-24", "25-64", "65+"],
    "bands in words": ["under 16", "16 to 24", "25 to 64", "65 and over"],
    "money": ["under £10,000", "£10,000 to £19,999", "£20,000 and over"],
    "sloppy bands": ["0-10", "10-20", "20-30", "30+"],
    "a number and more": ["1", "2", "3", "4", "4+"],
    "directions": ["N", "NE", "E", "SE", "S", "SW", "W", "NW"],
    "directions in words": ["North", "North East", "North West", "South", "South East"],
    "Roman numbers": ["I", "II", "III", "IV", "V", "VI"],
    "blood groups": ["A", "B", "AB", "O"],
    "ratings": ["A", "AA", "AAA", "B", "BB", "BBB"],
    "grades": ["A", "A+", "A-", "B", "B+"],
    "answers": ["Yes", "No", "None", "Not stated"],
    "transport": ["Car", "Car and bike", "Bike"],
    "work": ["Man", "Manager", "Management"],
    "sizes": ["S", "M", "L", "XL", "XXL"],
    "years": ["2019", "2020", "2021"],
    "countries": ["Niger", "Nigeria", "Guinea", "Guinea-Bissau", "Dominica", "Dominican Republic"],
    "an illness": ["COVID", "COVID-19", "flu"],
    "a sign": ["<38", ">38"],
}


def named(nested, labels):
    return {labels[whole]: [labels[part] for part in parts] for whole, parts in nested.items()}


@pytest.mark.parametrize("case", CODES)
def test_codes_of_several_levels(case):
    text, wanted = CODES[case]
    labels = text.split()
    found = named(nested_codes(labels), labels)
    assert found == {whole: parts.split() for whole, parts in wanted.items()}


@pytest.mark.parametrize("case", PHRASES)
def test_phrases_that_go_on(case):
    labels = PHRASES[case]
    assert named(nested_codes(labels), labels) == {labels[0]: labels[1:]}


@pytest.mark.parametrize("case", APART)
def test_what_merely_begins_alike(case):
    labels = APART[case]
    assert nested_codes(labels) == {}
    assert nested_ranges(labels) == {}
    assert nested_bands(labels) == {}


def test_ranges_of_codes():
    labels = ["A00-A09", "A00", "A01", "A09", "A10", "B-E", "B", "C", "D", "E", "F"]
    labels += ["C10-C12", "C10", "C11", "ED5-8", "ED5", "ED6", "X-Y"]
    assert named(nested_ranges(labels), labels) == {
        "A00-A09": ["A00", "A01", "A09"],
        "B-E": ["B", "C", "D", "E"],
        "C10-C12": ["C10", "C11"],
        "ED5-8": ["ED5", "ED6"],
    }


def test_a_letter_with_a_number_behind_a_dot_is_a_code():
    # 'A' is a word for 'up to' in some languages.
    assert nested_codes(["A", "A.1", "B"]) == {0: (1,)}
    assert nested_codes(["E", "E.1", "E.2"]) == {0: (1, 2)}
    assert nested_bands(["A.1", "A.2", "B.1"]) == {}


def test_bands_that_hold_bands():
    labels = ["0-14", "0-4", "5-9", "10-14", "15+", "65+"]
    assert named(nested_bands(labels), labels) == {"0-14": ["0-4", "5-9", "10-14"], "15+": ["65+"]}
    labels = ["Y_LT15", "Y0-4", "Y5-14", "Y15-64", "Y_GE65", "Y65-74"]
    assert named(nested_bands(labels), labels) == {
        "Y_LT15": ["Y0-4", "Y5-14"], "Y_GE65": ["Y65-74"],
    }  # fmt: skip
    labels = ["1", "2", "3", "1-3", "4+"]
    assert named(nested_bands(labels), labels) == {"1-3": ["1", "2", "3"]}
    labels = ["0-99", "0-14", "0-4", "15-99"]
    assert named(nested_bands(labels), labels) == {"0-99": ["0-14", "15-99"], "0-14": ["0-4"]}


def test_for_counts_to_decide():
    labels = ["1", "11", "12", "111", "North", "North East"]
    assert named(begins_alike(labels), labels) == {
        "1": ["11", "12"], "11": ["111"], "North": ["North East"],
    }  # fmt: skip


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=30, unique=True))
def test_plain_numbers_never_hold_each_other(numbers):
    # The last one fits no level, so that they are no codes such as 1, 11, 12, 2, 21 and 22.
    labels = [str(number) for number in (*numbers, 9_999_999)]
    assert nested_codes(labels) == {}
    assert nested_bands(labels) == {}


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.booleans())
def test_bands_side_by_side_never_hold_each_other(widths, is_open):
    labels, low = [], 0
    for width in widths:
        labels.append(f"{low}-{low + width}")
        low += width + 1
    labels += [f"{low}+"] if is_open else []
    assert nested_bands(labels) == {}
    assert nested_codes(labels) == {}


@given(
    st.lists(st.text("ABCDEFGH", min_size=1, max_size=3), min_size=1, max_size=5, unique=True),
    st.integers(2, 9),
    st.booleans(),
)
def test_letters_with_numbered_parts_always_hold_them(stems, n_parts, padded):
    labels = list(stems)
    labels += [f"{stem}{part:02}" if padded else f"{stem}{part}" for stem in stems
               for part in range(1, n_parts + 1)]  # fmt: skip
    found = nested_codes(labels)
    for place, stem in enumerate(stems):
        own = {labels.index(label) for label in labels if label.rstrip("0123456789") == stem}
        assert set(found[place]) >= own - {place}


@given(st.lists(st.text(max_size=8), max_size=12, unique=True))
def test_any_text_can_be_a_label(labels):
    for nested in (nested_codes, nested_ranges, nested_bands, begins_alike):
        for whole, parts in nested(labels).items():
            assert whole not in parts
            assert parts


ALL = """
Total|TOTAL|total|Totals|All|ALL|Sum|Overall|T|_T|TOT|Tot|Grand total|Both sexes|Both|Persons|All ages
All persons|All people|All usual residents|All causes of death|All ages (0-99)|Everyone|Sub-total
Gesamt|insgesamt|Insgesamt|Summe|Zusammen|Alle Altersgruppen|Männer und Frauen|Ensemble|Tous les âges
Totaal|Alle leeftijden|Totale|Todas las edades|Ambos sexos|Ogółem|Razem|Celkem|Összesen|Yhteensä
I alt|Totalt|Samtliga|Kokku|Ukupno|Skupaj|Toplam|Σύνολο|Всего|Итого|Iš viso
"""
SOME = "Total_EAST|Total, North|North - total|Women, total|Subtotal men|Zwischensumme West|EU total"
NONE = """
All others|All other causes|All day|All the time|All year round|Both parents|Alle anderen|Tous les autres
Totally agree|Gesamtschule|Small|Tall|Allotment|North|Assumed|Other|Not stated|A|TX|Tom|Summer
Todos los demás|Personal|Ballet|1|10|65+|t1|None|Every day
"""


def labels(text):
    return [label for line in text.strip().splitlines() for label in line.split("|")]


@pytest.mark.parametrize("label", labels(ALL))
def test_a_sum_of_all(label):
    assert is_sum_of_all(label)
    assert is_sum_of_some(label)
    assert is_sum_of_all(f" {label.upper()} ")


@pytest.mark.parametrize("label", labels(SOME))
def test_a_sum_of_some(label):
    assert not is_sum_of_all(label)
    assert is_sum_of_some(label)


@pytest.mark.parametrize("label", labels(NONE))
def test_no_sum(label):
    assert not is_sum_of_some(label)
