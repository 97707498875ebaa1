"""Recodings applied to a coded file, against what each says of one value at a time."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gamekeeper as gk
from gamekeeper.data.coding.source_coding import code_frame
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.recoding import recode_table
from tests.given.microdata import world

ages = st.lists(st.integers(0, 120) | st.none(), min_size=1, max_size=30)


def coded(**columns):
    table = pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})
    return code_frame(table, list(columns))


def words(table, name):
    variable = table.codebook[name]
    return [variable.words[code] for code in table.codes(name).tolist()]


def texts(values):
    return [None if value is None else str(value) for value in values]


def recoded(values, way):
    return words(recode_table(coded(v=texts(values)), [f"v={way}"]).table, "v")


@given(ages, st.integers(1, 30), st.integers(-20, 20))
def test_bands_of_a_width_hold_their_numbers(values, width, start):
    for value, word in zip(values, recoded(values, f"width {width} from {start}"), strict=True):
        if value is None:
            assert word == "missing"
            continue
        low = next(
            n for n in range(-200, 200) if (n - start) % width == 0 and n <= value < n + width
        )
        assert word == (str(low) if width == 1 else f"{low}-{low + width - 1}")


@given(ages, st.integers(0, 60), st.integers(61, 120))
def test_ends(values, bottom, top):
    for value, word in zip(values, recoded(values, f"bottom {bottom}, top {top}"), strict=True):
        plain = "missing" if value is None else str(value)
        far = value is not None and (value <= bottom or value >= top)
        named = f"up to {bottom}" if value is not None and value <= bottom else f"{top}+"
        assert word == (named if far else plain)


@given(ages)
def test_bands(values):
    told = recoded(values, "under 16, 16-64, 65+")
    for value, word in zip(values, told, strict=True):
        young = "under 16" if value is not None and value < 16 else "16-64"
        assert word == ("missing" if value is None else "65+" if value > 64 else young)


@given(ages, st.integers(2, 5))
def test_neighbours(values, number):
    ordered = sorted({value for value in values if value is not None})
    place = {value: rank // number for rank, value in enumerate(ordered)}
    told = recoded(values, f"neighbours {number}")
    groups = {}
    for value, word in zip(values, told, strict=True):
        if value is not None:
            groups.setdefault(word, set()).add(place[value])
    assert all(len(found) == 1 for found in groups.values())
    assert len(groups) == len(set(place.values()))


def test_groups_letters_and_together():
    table = coded(region=["a", "b", "c", None], work=["2144", "2111", "31", "9"])
    ways = ["REGION=North: A | b", "work=first 2"]
    done = recode_table(table, ways)
    assert words(done.table, "region") == ["North", "North", "c", "missing"]
    assert words(done.table, "work") == ["21", "21", "31", "9"]
    assert done.told[0] == "'region': 3 categories become 2 (North: A | b)."
    assert set(words(recode_table(table, ["work=together"]).table, "work")) == {"any"}


def test_values_that_are_bands_and_labels_are_placed():
    table = coded(age=["16-24", "25-29", "65+", "70"])
    assert words(recode_table(table, ["age=0-29, 30+"]).table, "age") == ["0-29"] * 2 + ["30+"] * 2
    assert words(recode_table(table, ["age=top 65"]).table, "age")[2:] == ["65+", "65+"]
    with pytest.raises(InputError, match="1 value in 1 record are bands that lie across"):
        recode_table(table, ["age=top 20"])


def test_the_environment_has_levels_codes_and_forms():
    environment = world()
    table = coded(
        age=["4", "17", "70"], marital_status=["single", "widowed", "divorced"], sex=["male"] * 3
    )

    def done(way):
        made = recode_table(table, [way], environment=environment).table
        return words(made, way.partition("=")[0])

    assert done("marital_status=level 1") == ["single", "formerly married", "formerly married"]
    assert done("marital_status=level 2") == ["any"] * 3
    assert done("marital_status=as Bank") == done("marital_status=level 1")
    code = environment.code_of("Bank", "Age")
    assert done(f"age=code {code}") == ["0-15", "16-64", "65+"]
    for way, reason in (
        ("marital_status=level 3", Reason.BAD_OPTION),
        ("age=code C7.001", Reason.UNKNOWN_NAME),
        ("age=as Shop", Reason.UNKNOWN_NAME),
    ):
        with pytest.raises(InputError) as refused:
            done(way)
        assert refused.value.reason is reason
    with pytest.raises(InputError, match="environment"):
        recode_table(table, ["age=level 1"])


def test_every_fault_is_said_at_once_and_no_value_is_shown():
    table = coded(
        age=["CANARY", "7341", "12"], region=["CANARY one", "x", "y"], job=["u", "v", "w"]
    )
    ways = ["age=0-20", "region=North: Z | Q", "job=neighbours 2", "sexe=top 3"]
    with pytest.raises(InputError) as refused:
        recode_table(table, ways)
    told = str(refused.value)
    assert len(refused.value.problems) == 5
    assert "2 values in 2 records lie in none of the bands" in told
    assert "'Z' is no category of it" in told
    assert "have no order" in told
    assert "CANARY" not in told
    assert "7341" not in told


def test_a_group_cannot_take_the_name_of_a_category_that_stays():
    with pytest.raises(InputError, match="is the name of a category that is not in the group"):
        recode_table(coded(region=["a", "b", "c"]), ["region=c: a | b"])


def test_categories_that_another_file_does_not_have_are_passed_over():
    other = coded(region=["a", "c"])
    assert words(recode_table(other, ["region=N: a | b"], strict=False).table, "region") == [
        "N",
        "c",
    ]


def test_ends_of_bands_are_exact():
    table = coded(x=["0.24", "0.25", "0.5"])
    done = recode_table(table, ["x=width 0.25"]).table
    assert words(done, "x") == ["0-0.25", "0.25-0.5", "0.5-0.75"]


def test_classes_of_a_recoded_file_are_those_of_the_recoded_words():
    table = coded(age=["4", "17", "17", "70", "71"], sex=["m", "f", "f", "m", "m"])
    done = recode_table(table, ["age=0-64, 65+"]).table
    assert gk.count_keys(done, ["AGE", "Sex"]).n_uniques == 1
