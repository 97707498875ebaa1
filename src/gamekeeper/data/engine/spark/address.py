"""Where a cluster is, as one types it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

KINDS: Final = ("spark://host:7077", "sc://host:15002", "local-cluster", "local[2]")
"""How the text of an address looks, by example."""

_HOSTS = re.compile(r"spark://([^/;?#@\s]+)")
_CONNECT = re.compile(r"sc://([^/;?#@\s]+)(/(?:;[^\s]*)?)?")
_CLUSTER = re.compile(r"local-cluster(?:\[\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\])?")
_LOCAL = re.compile(r"local\[([1-9]\d*)\]")
_PORTS: Final = {"spark": 7077, "sc": 15002}


class Kind(Enum):
    """Whom one speaks to."""

    STANDALONE = "a cluster of Spark"
    CONNECT = "a server of Spark Connect"
    LOCAL_CLUSTER = "a cluster on this machine"
    LOCAL = "Spark within one process"


@dataclass(frozen=True, slots=True, repr=False)
class Address:
    """Where a cluster is.

    Attributes
    ----------
    kind
        Whom one speaks to.
    text
        What Spark is told. It may hold a password, so it is never shown.
    places
        Hosts and ports, any of which answers; none for what is started here.
    cores
        How many tasks run at once, where that is known.
    """

    kind: Kind
    text: str
    places: tuple[tuple[str, int], ...] = ()
    cores: int | None = None

    @property
    def shown(self) -> str:
        """The address as messages show it: without what may be a password."""
        if not self.places:
            return self.text
        scheme = "sc" if self.kind is Kind.CONNECT else "spark"
        return f"{scheme}://{','.join(f'{host}:{port}' for host, port in self.places)}"

    def __repr__(self) -> str:
        return f"Address({self.shown})"


def parse_address(text: str) -> Address | None:
    """Return the address that a text names, or None where it names none.

    Examples
    --------
    >>> parse_address("spark://cluster:7077")
    Address(spark://cluster:7077)
    >>> parse_address("sc://cluster/;token=secret")
    Address(sc://cluster:15002)
    >>> parse_address("local[2]").cores, parse_address("mainframe")
    (2, None)
    """
    if found := _HOSTS.fullmatch(text):
        places = _places(found[1].split(","), _PORTS["spark"])
        if places is None:
            return None
        return Address(
            Kind.STANDALONE, "spark://" + ",".join(f"{h}:{p}" for h, p in places), places
        )
    if found := _CONNECT.fullmatch(text):
        places = _places([found[1]], _PORTS["sc"])
        return None if places is None else Address(Kind.CONNECT, text, places)
    if found := _CLUSTER.fullmatch(text):
        workers, cores, megabytes = (
            (int(part) for part in found.groups() if part) if found[1] else (2, 1, 1024)
        )
        if not workers or not cores or not megabytes:
            return None
        made = f"local-cluster[{workers},{cores},{megabytes}]"
        return Address(Kind.LOCAL_CLUSTER, made, cores=workers * cores)
    if found := _LOCAL.fullmatch(text):
        return Address(Kind.LOCAL, text, cores=int(found[1]))
    return None


def _places(texts: list[str], port: int) -> tuple[tuple[str, int], ...] | None:
    places: list[tuple[str, int]] = []
    for text in texts:
        host, colon, number = text.rpartition(":")
        if not colon or text.endswith("]"):  # an IPv6 address has colons of its own, in brackets
            host, number = text, str(port)
        if (
            not host
            or not number.isascii()
            or not number.isdecimal()
            or not 0 < int(number) < 65536
        ):
            return None
        places.append((host, int(number)))
    return tuple(places)
