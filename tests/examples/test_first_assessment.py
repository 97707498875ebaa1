"""The corridor of stage two, end to end, on a file of twelve people: read this second."""

from __future__ import annotations

from fractions import Fraction

import gamekeeper as gk

# Twelve of 120 people. The last one did not tell the marital status.
SAMPLE = """\
Age,Sex,Status
16,f,widowed
34,f,married
34,f,married
34,m,married
34,m,married
52,f,single
52,f,single
52,m,married
52,m,married
71,f,widowed
71,f,widowed
71,m,
"""
# Everybody: the sample, and how often each of its keys occurs among the others.
OTHERS = {
    "34,f,married": 20,
    "34,m,married": 18,
    "52,f,single": 12,
    "52,m,married": 18,
    "71,f,widowed": 28,
    "71,m,": 3,
    "71,m,married": 9,
}
KEYS = ["Age", "Sex", "Status"]


def test_from_a_file_to_its_riskiest_records(tmp_path):
    file = tmp_path / "sample.csv"
    file.write_text(SAMPLE, encoding="utf-8")

    # Opening a file looks at it and reads nothing more than it must.
    source = gk.open_source(file)
    assert [column.name for column in source.columns] == KEYS
    assert source.settings["delimiter"] == ","

    # Its values are coded once; only the codebook knows what a code means. 0 is a missing cell.
    people = gk.code_source(source, KEYS)
    assert people.codebook["Age"].words == ("missing", "16", "34", "52", "71")
    assert people.matrix()[0].tolist() == [1, 1, 3]
    assert people.matrix()[11].tolist() == [4, 2, 0]

    # Records with the same key are a class; who is alone in a class is a sample unique.
    keys = gk.count_keys(people, KEYS, fraction="1/10")
    assert keys.structure == {1: 2, 2: 5}
    assert (keys.n_uniques, keys.n_paired) == (2, 10)
    assert keys.class_sizes().tolist() == [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1]

    # What sets the two apart? Every combination of variables of which no part would do.
    risk = gk.assess_uniques(keys)
    assert risk.explain(1) == ["unique by Age 16"]
    assert risk.explain(12) == ["unique by Status missing", "unique by Age 71 + Sex m"]
    assert risk.explain(2) == ["not unique: it shares its key with 1 other record"]
    # An MSU of s out of 3 variables counts (3-s)!: record 1 has 2!, record 12 has 2! + 1!.
    assert risk.to_arrow()["is"].to_pylist() == [2, *[0] * 10, 3]

    # DIS estimates, from the file alone, how often a match with just one record would be right:
    # U f / (U f + P (1-f)), with 2 uniques, 10 records in pairs and the fraction f.
    dis = gk.assess_dis(keys)
    assert dis.file["dis"] == Fraction(2, 10) / (Fraction(2, 10) + 10 * Fraction(9, 10))
    assert risk.file["dis"] == dis.file["dis"] == Fraction(1, 46)

    # Here, for once, everybody is known.
    everybody = tmp_path / "everybody.csv"
    lines = [line + "\n" for line, n_people in OTHERS.items() for _ in range(n_people)]
    everybody.write_text(SAMPLE + "".join(lines), encoding="utf-8")
    population = gk.count_keys(gk.code_source(gk.open_source(everybody), KEYS), KEYS)
    assert population.n_records == 120

    # Of the two uniques one has no double in the population, and the other has three: picked at
    # random, a unique is matched rightly with (1/1 + 1/4)/2. Of the five people who match one of
    # them, two are in the sample.
    truth = gk.assess_matching(keys, population=population)
    assert truth.file["pr_pu_given_su"] == Fraction(1, 2)
    assert truth.file["pr_cm_given_su"] == truth["4"].pr_cm == Fraction(5, 8)
    assert truth.file["pr_cm_given_um"] == truth["5"].pr_cm == Fraction(2, 5)


def test_what_a_director_reads(tmp_path):
    file = tmp_path / "sample.csv"
    file.write_text(SAMPLE, encoding="utf-8")
    people = gk.code_source(gk.open_source(file), KEYS)
    risk = gk.assess_uniques(gk.count_keys(people, KEYS, fraction="1/10"))
    told = " ".join(risk.sentences())
    assert told.startswith("Of 12 records, 2 (16.7%) are unique in the file on the key variables")
    assert "estimated probability of 0.0217 (DIS" in told
    assert "missing is a category of its own" in told
    # No sentence has a value of the file.
    assert "widowed" not in told


def test_a_missing_cell_can_be_read_otherwise(tmp_path):
    file = tmp_path / "sample.csv"
    file.write_text(SAMPLE, encoding="utf-8")
    people = gk.code_source(gk.open_source(file), KEYS)
    # A cell that is not known tells nobody apart: record 12 is unique by age and sex alone.
    ignored = gk.assess_uniques(gk.count_keys(people, KEYS, missing=gk.Missing.IGNORE))
    assert ignored.explain(12) == ["unique by Age 71 + Sex m"]
    # Or records with missing cells are left out.
    excluded = gk.count_keys(people, KEYS, missing="exclude")
    assert (excluded.n_records, excluded.n_excluded, excluded.n_uniques) == (11, 1, 1)
