"""Addresses of clusters: what is taken for one, and what of it is shown."""

from __future__ import annotations

import pytest

from gamekeeper.data.engine.spark.calls import KINDS, Kind, parse_address


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "spark", "spark:", "spark://", "spark:///", "spark://:7077", "spark://host:",
        "spark://host:0", "spark://host:65536", "spark://host:-1", "spark://host:7o77",
        "spark://host:７０７７", "spark://host,", "spark://,host", "spark://a:1,b:0",
        "spark://host:7077/path", "spark://user@host:7077", "spark://ho st:7077", "SPARK://host",
        "sc://", "sc://:15002", "sc://host:99999", "sc://host:15002?token=x", "sc://a:b",
        "sc://user@host:15002", "sc://host/path", "sc://host/; token=x", "http://host:7077",
        "yarn", "k8s://host", "local", "local[]", "local[0]", "local[-1]", "local[*]", "local[02]",
        "local[2] ", "local[2,3]", "local-cluster[]", "local-cluster[2]", "local-cluster[2,1]",
        "local-cluster[0,1,1024]", "local-cluster[2,0,1024]", "local-cluster[2,1,0]",
        "local-cluster[2,1,1024,1]", "local-cluster[2,1,x]", "local-clusters", "duckdb",
        "mainframe", "spark://host\n", "sc://host\nsc://host",
    ],
)  # fmt: skip
def test_what_is_no_address_is_none(text):
    assert parse_address(text) is None


@pytest.mark.parametrize(
    ("text", "kind", "places", "told"),
    [
        ("spark://a", Kind.STANDALONE, [("a", 7077)], "spark://a:7077"),
        ("spark://a:1,b:65535", Kind.STANDALONE, [("a", 1), ("b", 65535)], "spark://a:1,b:65535"),
        ("spark://[::1]", Kind.STANDALONE, [("[::1]", 7077)], "spark://[::1]:7077"),
        ("spark://[::1]:80", Kind.STANDALONE, [("[::1]", 80)], "spark://[::1]:80"),
        ("sc://a", Kind.CONNECT, [("a", 15002)], "sc://a"),
        ("sc://a:7/", Kind.CONNECT, [("a", 7)], "sc://a:7/"),
        ("sc://a/;use_ssl=true", Kind.CONNECT, [("a", 15002)], "sc://a/;use_ssl=true"),
        ("local-cluster", Kind.LOCAL_CLUSTER, [], "local-cluster[2,1,1024]"),
        ("local-cluster[3, 2, 512]", Kind.LOCAL_CLUSTER, [], "local-cluster[3,2,512]"),
        ("local[12]", Kind.LOCAL, [], "local[12]"),
    ],
)
def test_spark_is_told_an_address_as_it_writes_them(text, kind, places, told):
    found = parse_address(text)
    assert found is not None
    assert (found.kind, list(found.places), found.text) == (kind, places, told)


def test_examples_are_addresses_of_every_kind():
    assert {found.kind for text in KINDS if (found := parse_address(text))} == set(Kind)


def test_what_may_be_a_password_is_not_shown():
    found = parse_address("sc://host:1/;token=canary;user_id=canary")
    assert found is not None
    assert found.shown == "sc://host:1"
    assert "canary" not in f"{found} {found!r}"
