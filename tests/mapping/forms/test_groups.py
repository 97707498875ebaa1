from __future__ import annotations

import pickle
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.overview import find_forms
from gamekeeper.mapping.forms.form import Form
from gamekeeper.mapping.forms.groups import Group, members, parse_query, unknown_names
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.wording import unfit_character

FORMS = [
    Form(name, {}, {"Form Type": medium, "year": year})
    for name, medium, year in (
        ("Survey V", "On-line", 2029),
        ("Survey W", "On-line", 2030),
        ("Survey X", "Paper", 2030),
        ("Survey Y", "Paper", 2031),
        ("Survey Z", "On-line", 2031),
    )
]
ONLINE = Group("On-line", where="Form Type = On-line")
RECENT = Group("Recent", where="year >= 2030")
BY_HAND = Group("Group1", ["Survey Z", "Survey X", "Survey Y"])


def environment(*groups: Group) -> Environment:
    return Environment([], FORMS, [ONLINE, RECENT, BY_HAND, *groups])


def test_groups_by_hand_and_by_query():
    made = environment()
    assert made.group("On-line").forms == ("Survey V", "Survey W", "Survey Z")
    assert made.group("Group1").forms == ("Survey Z", "Survey X", "Survey Y")
    assert made.groups["On-line"].forms == ()


@pytest.mark.parametrize(
    ("how", "letters"), [("union", "VWXYZ"), ("intersection", "Z"), ("difference", "VW")]
)
def test_groups_from_groups(how, letters):
    made = environment(Group("both", **{how: ["On-line", "Group1"]}))
    assert made.group("both").forms == tuple(f"Survey {letter}" for letter in letters)


def test_groups_of_groups_follow_the_forms():
    made = environment(
        Group("rest", difference=["Recent", "On-line"]), Group("all", union=["rest", "On-line"])
    )
    assert made.group("all").forms == tuple(form.name for form in FORMS)
    grown = made.with_form(Form("Survey U", {}, {"Form Type": "Paper", "year": 2035}))
    assert "Survey U" in grown.group("all").forms
    assert "Survey U" not in made.group("all").forms
    shrunk = grown.changed(forms={"Survey V": None})
    assert "Survey V" not in shrunk.group("all").forms


def test_every_fault_of_groups_is_named():
    with pytest.raises(InputError) as caught:
        environment(
            Group("a", union=["b"]),
            Group("b", intersection=["c", "On-line"]),
            Group("c", difference=["a"]),
            Group("d", union=["On-lin"]),
            Group("e", where="year >="),
            Group("f", ["Survey Q"]),
            Group("g", union=["a"]),
        )
    found = [(problem.reason, problem.where) for problem in caught.value.problems]
    assert found == [
        (Reason.UNKNOWN_NAME, "group 'd'"),
        (Reason.BAD_QUERY, "group 'e', its query"),
        (Reason.UNKNOWN_NAME, "group 'f'"),
        (Reason.BAD_OPTION, "group 'a'"),
        (Reason.BAD_OPTION, "group 'b'"),
        (Reason.BAD_OPTION, "group 'c'"),
    ]


def test_groups_nested_too_deep_are_refused_and_broad_sharing_is_quick():
    chain = [Group("0", ["Survey V"]), *(Group(str(n), union=[str(n - 1)]) for n in range(1, 150))]
    with pytest.raises(InputError, match="deep"):
        environment(*chain)
    doubled = [Group("0", ["Survey V"])]
    for n in range(1, 60):
        doubled += [Group(f"{n}", union=[f"{n - 1}"]), Group(f"{n}b", union=[f"{n - 1}"])]
    wide = Group("wide", union=[group.name for group in doubled])
    assert environment(*doubled, wide).group("wide").forms == ("Survey V",)


def test_one_way_only():
    with pytest.raises(InputError, match="in 2 ways"):
        Group("x", where="year = 2030", union=["On-line"])
    with pytest.raises(InputError, match="one string"):
        Group("x", union="On-line")
    assert Group("x", union=["On-line"]).definition == {"union": ("On-line",)}
    assert ONLINE.definition == {"where": "Form Type = On-line"}
    assert BY_HAND.definition == {"forms": BY_HAND.forms}


@given(st.data())
def test_combinations_are_those_of_sets(data):
    forms = {form.name: form for form in FORMS}
    sets = data.draw(st.lists(st.sets(st.sampled_from(sorted(forms))), min_size=1, max_size=4))
    groups = {str(n): Group(str(n), sorted(names)) for n, names in enumerate(sets)}
    first, rest = sets[0], sets[1:]
    for how, expected in (
        ("union", first.union(*rest)),
        ("intersection", first.intersection(*rest)),
        ("difference", first.difference(*rest)),
    ):
        made = {**groups, "made": Group("made", **{how: list(groups)})}
        assert set(members("made", made, forms)) == expected


BANK = Form(
    "Crédit Bank",
    {"Age": (), "Date of Birth": ()},
    {"Form Type": "On-line", "year": 2030, "fee": 2.5, "open": True, "note": None, "since": "1999"},
)

# A slow and obvious reader of conditions as nested tuples, for the language to agree with.

TEXTS = [
    "On-line", "on-LINE", "Trade and Industry", "in", "NOT", "é", "E", "", " x ", "it's", "'90s",
    'say "hi"', "a=b", "a  b", "(x)", "x, y", "7", "07", "7.0", "-1", "true", "False", "9" * 80,
    "abc", "name", "Name", "has", "year", "ﬁ", "fi", "!", "a!=b", "\u00a0", "1e5",
    " 7 ", "\uff17",
]  # fmt: skip
VALUES = st.one_of(
    st.sampled_from(TEXTS),
    st.integers(-2, 10),
    st.sampled_from([0.5, 7.0, 1e30]),
    st.booleans(),
    st.none(),
    st.text(max_size=4),
)
KEYS = st.sampled_from(["year", "Year", "YÉAR", "name", "Form  Type", "and", "x=y", "it's", ""])
FORMS_OF_QUERIES = st.builds(
    Form,
    st.one_of(st.sampled_from(TEXTS), st.text(max_size=3)),
    st.dictionaries(KEYS, st.just(()), max_size=3),
    st.dictionaries(KEYS, VALUES, max_size=4),
)
SIGNS = ["=", "!=", "<", "<=", ">", ">=", "contains"]
WORDS = st.one_of(st.sampled_from(TEXTS), st.text(max_size=4))
ATOMS = st.one_of(
    st.tuples(st.just("is"), KEYS, st.sampled_from(SIGNS), st.tuples(WORDS)),
    st.tuples(st.just("is"), KEYS, st.just("in"), st.lists(WORDS, min_size=1, max_size=3)),
    st.tuples(st.just("has"), KEYS),
)
TREES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3)),
    ),
    max_leaves=6,
)
KEYWORDS = {"and", "or", "not", "has", "contains", "in"}


def plain(text):
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return " ".join("".join(c for c in text if not unicodedata.combining(c)).split())


def number(value, *, is_quoted=False):
    if isinstance(value, str):
        value = plain(value)
        is_one = re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)", value) and len(value) < 60
        return float(value) if is_one and not is_quoted else None
    return None if isinstance(value, bool) else value


def shown(value):
    return plain(str(value).lower() if isinstance(value, bool) else str(value))


def holds(found, sign, text, is_quoted):
    left, right = number(found), number(text, is_quoted=is_quoted)
    if sign == "contains":
        return plain(text) in shown(found)
    if left is not None and right is not None:
        a, b = left, right
    elif right is not None and sign not in ("=", "!=", "in"):
        return False
    else:
        a, b = shown(found), plain(text)
    return {
        "=": a == b,
        "in": a == b,
        "!=": a != b,
        "<": a < b,
        "<=": a <= b,
        ">": a > b,
        ">=": a >= b,
    }[sign]


def fits(tree, form):
    match tree:
        case ("and", parts):
            return all(fits(part, form) for part in parts)
        case ("or", parts):
            return any(fits(part, form) for part in parts)
        case ("not", part):
            return not fits(part, form)
        case ("has", (name, _)):
            return plain(name) in map(plain, form.instances)
        case ("is", (key, is_quoted), sign, values):
            if plain(key) == "name" and not is_quoted:
                found = [form.name]
            else:
                found = [v for k, v in form.metadata.items() if plain(k) == plain(key)]
            return any(
                holds(one, sign, text, is_quoted)
                for one in found
                if one is not None
                for text, is_quoted in values
            )


@st.composite
def queries(draw):
    """Draw a query in some way of writing it, with its tree."""

    def written(text):
        """Write a text with quotes where they are needed, or nobody minds."""
        words = text.split()
        needs = (
            not words
            or " ".join(words) != text
            or any(word[0] in "'\"" or word.casefold() in KEYWORDS for word in words)
            or re.search(r"[=<>(),]", text)
        )
        if not needs and draw(st.booleans()):
            return (" " * draw(st.integers(1, 2))).join(words), False
        quote = draw(st.sampled_from("'\""))
        return quote + text.replace(quote, quote * 2) + quote, True

    def write(tree):
        match tree:
            case ("has", name):
                text, is_quoted = written(name)
                said, meant = (
                    f"{draw(st.sampled_from(['has', 'HAS']))} {text}",
                    ("has", (name, is_quoted)),
                )
            case ("is", key, sign, values):
                key_text, key_quoted = written(key)
                pairs = [written(value) for value in values]
                listed = ",".join(text for text, _ in pairs)
                said = f"{key_text} {sign} " + (f"({listed})" if sign == "in" else listed)
                quotes = [(v, q) for v, (_, q) in zip(values, pairs, strict=True)]
                meant = ("is", (key, key_quoted), sign, quotes)
            case ("not", part):
                text, inner = write(part)
                said, meant = f"not ({text})", ("not", inner)
            case (word, parts):
                both = [write(part) for part in parts]
                said = f" {word} ".join(f"({text})" for text, _ in both)
                meant = (word, [inner for _, inner in both])
        return (f"( {said} )" if draw(st.booleans()) else said), meant

    return write(draw(TREES))


@given(queries(), FORMS_OF_QUERIES)
def test_a_query_means_what_its_twin_means(query, form):
    text, tree = query
    assert parse_query(text).matches(form) is fits(tree, form)


@given(queries())
def test_the_canonical_text_reads_back_as_the_same_query(query):
    parsed = parse_query(query[0])
    again = parse_query(parsed.text)
    assert again == parsed
    assert hash(again) == hash(parsed)
    assert again.text == parsed.text == str(parsed)
    assert again.keys == parsed.keys
    assert again.variables == parsed.variables


@given(queries(), FORMS_OF_QUERIES)
def test_renaming_a_variable_renames_it_and_nothing_else(query, form):
    parsed = parse_query(query[0])
    renamed = parsed.renamed_variable("year", "and (new)")
    assert renamed.keys == parsed.keys
    kept = {name for name in parsed.variables if plain(name) != "year"}
    assert renamed.variables == kept | ({"and (new)"} if kept != parsed.variables else set())
    assert parse_query(renamed.text) == renamed
    others = {name for name in form.instances if plain(name) != "year"}
    new_names = [*others, *(["AND (new)"] if others != set(form.instances) else [])]
    renamed_form = Form(form.name, dict.fromkeys(new_names, ()), form.metadata)
    assert renamed.matches(renamed_form) == parsed.matches(form)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Form Type = on-line", True),
        ("form type = ON-LINE and year >= 2029", True),
        ("name contains credit", True),
        ("'name' contains credit", False),
        ("year in (2029, 2030)", True),
        ("year = 2030.0", True),
        ("year contains 30", True),
        ("since < 2000", True),
        ("since = '01999'", False),
        ("since = 01999", True),
        ("fee < 10", True),
        ("fee < '10'", False),
        ("Form Type < 5", False),
        ("Form Type >= 5", False),
        ("Form Type != 5", True),
        ("open = true", True),
        ("open = TRUE and not open = false", True),
        ("open = 1", False),
        ("has age and has DATE OF BIRTH", True),
        ("has Sex", False),
        # Without the key there is nothing to compare.
        ("sector = bank", False),
        ("sector != bank", False),
        ("not sector = bank", True),
        ("note = ''", False),
        ("note != x", False),
        # not, and, or bind in this order.
        ("year = 1 and year = 2 or year = 2030", True),
        ("year = 1 and (year = 2 or year = 2030)", False),
        ("not year = 1 and year = 2030", True),
        ("not (year = 2030 or year = 1)", False),
        ("not not year = 2030", True),
    ],
)
def test_examples(text, expected):
    assert parse_query(text).matches(BANK) is expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a = b and c = d", "( 'a'='b' )AND(c   =d)"),
        ("a = b and c = d and e = f", "a = b and (c = d and e = f)"),
        ("a = b", "not not (a = b)"),
        ("not a = b", "not (not (not a = b))"),
        ("has x", "HAS 'x'"),
        ("a in (x)", "a in('x')"),
    ],
)
def test_what_makes_no_difference(one, other):
    assert parse_query(one) == parse_query(other)
    assert parse_query(other).text == one


def test_what_does_make_a_difference():
    assert parse_query("a = 7") != parse_query("a = '7'")
    assert parse_query("a = '7'").text == "a = '7'"
    assert parse_query("name = x") != parse_query("'name' = x")
    assert parse_query("'name' = x").text == "'name' = x"
    assert parse_query("name = x").keys == frozenset()
    assert parse_query("a = x or b = y") != parse_query("b = y or a = x")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "At position 1 a key, 'has', 'not' or '(' was expected; there the query ends."),
        ("   ", "At position 4 a key, 'has', 'not' or '(' was expected; there the query ends."),
        ("year", "At position 5 one of = != < <= > >= contains in was expected; there the"),
        ("year =", "At position 7 a value was expected; there the query ends."),
        ("year == 3", "At position 7 a value was expected; found '='."),
        ("year = 3 )", "At position 10 'and', 'or' or the end was expected; found ')'."),
        ("year = 1,000", "At position 9 'and', 'or' or the end was expected; found ','."),
        ("(year = 3", "At position 10 'and', 'or' or ')' was expected; there the query ends."),
        ("year in 3", "At position 9 '(' was expected; found '3'."),
        ("year in ()", "At position 10 a value was expected; found ')'."),
        ("year in (1, )", "At position 13 a value was expected; found ')'."),
        ("year in (1", "At position 11 ',' or ')' was expected; there the query ends."),
        ("has", "At position 4 a variable was expected; there the query ends."),
        ("has = 3", "At position 5 a variable was expected; found '='."),
        ("year = Trade and Industry", "At position 26 one of = != < <= > >= contains in was"),
        ("year not in (3)", "At position 6 one of = != < <= > >= contains in was expected; found"),
        ("'a' b = 3", "At position 5 one of = != < <= > >= contains in was expected; found 'b'"),
        ("a = 'b", "The quote at position 5 is not closed."),
        ("a = '''", "The quote at position 5 is not closed."),
        ("a = '90s", "The quote at position 5 is not closed."),
        ("and", "At position 1 a key, 'has', 'not' or '(' was expected; found 'and'."),
        ("not", "At position 4 a key, 'has', 'not' or '(' was expected; there the query ends."),
    ],
)
def test_an_error_says_where_and_what_was_expected(text, found):
    with pytest.raises(InputError) as caught:
        parse_query(text)
    assert caught.value.reason is Reason.BAD_QUERY
    assert caught.value.found.startswith(found)
    assert caught.value.do


@given(st.one_of(st.text(), st.text(alphabet="ab '\"()=!<>,notri"), st.text(alphabet="()'\"")))
def test_any_text_is_a_query_or_one_clear_error(text):
    try:
        parsed = parse_query(text)
    except InputError as caught:
        error = caught
    else:
        assert parse_query(parsed.text) == parsed
        parsed.matches(BANK)
        return
    assert error.reason is Reason.BAD_QUERY
    assert not unfit_character(str(error))
    assert len(str(error)) < 500


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "a = b" + ")" * 10_000,
        "(" * 100_000,
        "not (" * 10_000 + "a = b" + ")" * 10_000,
        "'" * 100_001,
        "a = 'x" + "''" * 100_000,
        "a in (" + "(" * 10_000,
        "=" * 100_000,
        "a " * 100_000,
    ],
)
def test_hostile_input_is_one_clear_error(text):
    with pytest.raises(InputError) as caught:
        parse_query(text)
    assert caught.value.reason is Reason.BAD_QUERY
    assert len(str(caught.value)) < 400


@pytest.mark.slow
def test_long_queries_are_no_trouble():
    text = " or ".join(f"year = {n}" for n in range(5_000))
    assert parse_query(text).matches(Form("x", metadata={"year": 4_999}))
    assert parse_query(text).text == text
    assert parse_query("not " * 100_001 + "a = b").text == "not a = b"
    deep = "(not " * 50 + "a = b" + ")" * 50
    assert parse_query(deep) == parse_query("a = b")
    nested = "a = b"
    for number in range(50):
        nested = f"c = d {'and' if number % 2 else 'or'} ({nested})"
    deepest = parse_query(nested)
    assert parse_query(deepest.text) == deepest
    assert deepest.matches(BANK) is False
    assert deepest.renamed_variable("x", "y") == deepest


def test_a_query_is_a_value():
    query = parse_query("year = 2030 and has Age")
    assert query.matches(BANK)
    assert pickle.loads(pickle.dumps(query)) == query
    assert len({query, parse_query("year=2030 and has Age")}) == 1
    assert repr(query) == "Query('year = 2030 and has Age')"
    with pytest.raises(AttributeError):
        query.condition = None


def test_names_that_nobody_has_are_pointed_out():
    query = parse_query(
        "(yaer = 1 or YEAR = 2 or 'name' = x) and (has Aeg or has age) and name = z"
    )
    problems = unknown_names(query, [BANK], ["Age", "Sex"])
    assert [problem.reason for problem in problems] == [Reason.UNKNOWN_NAME] * 3
    assert [str(problem) for problem in problems] == [
        "key 'name': no form has it. There are: 'Form Type', 'fee', 'note', 'open', 'since', 'year'.",
        "key 'yaer': no form has it. Near to it: 'year'.",
        "variable 'Aeg': there is no such variable. Near to it: 'Age'.",
    ]
    assert unknown_names(parse_query("year = 1 and has AGE"), [BANK], ["Age"]) == []
    assert "There are none." in unknown_names(query, [], [])[0].do


def coded() -> Environment:
    age = Variable.of_bands("Age", ["0-15", "16-64", "65+", "16+"])
    return Environment(
        [age],
        [
            Form("Coarse", {"Age": ("0-15", "16+")}),
            Form("Fine", {"Age": ("0-15", "16-64", "65+")}),
            Form("Free", {"Age": ()}),
            Form("None", metadata={"code of": "x"}),
        ],
        [Group("Finer", where="code of Age finer than C2.001")],
    )


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("code of Age finer than C2.001", ["Fine", "Free"]),
        ("code of age coarser than C0.001", ["Coarse", "Fine"]),
        ("code of Age = C2.001", ["Coarse"]),
        ("code of Age != C2.001", ["Fine", "Free"]),
        ("code of Age in (C2.001, C3.001)", ["Coarse", "Fine"]),
        ("not code of 'Age' = C2.001 and has Age", ["Fine", "Free"]),
        ("category of Age = '16 and over'", ["Coarse"]),
        ("category of Age in (16-64, 16+)", ["Coarse", "Fine"]),
        ("'code of' = x", ["None"]),
    ],
)
def test_queries_on_codes_and_categories(where: str, found: list[str]) -> None:
    environment = coded()
    assert [form.name for form in find_forms(environment, where)] == found
    assert environment.group("Finer").forms == ("Fine", "Free")
    query = parse_query(where)
    assert parse_query(query.text) == query
    renamed = query.renamed_variable("Age", "Age is finer")
    assert parse_query(renamed.text) == renamed


@pytest.mark.parametrize(
    "where", ["code of Age", "code of = C2.001", "code of Age finer C2.001", "category of Age < 3"]
)
def test_queries_on_codes_that_cannot_be_read(where: str) -> None:
    with pytest.raises(InputError):
        parse_query(where)
