"""Whether whoever listens at a port speaks as Spark does: asked before anything is started.

Spark itself waits a minute or more for an answer of somebody else. So a cluster is asked for a block
that nobody has, which it refuses at once; and a server of Spark Connect, which speaks HTTP/2, is
greeted as that protocol begins. Whoever says nothing, or something else, is not Spark. A cluster that
closes the connection, or answers by TLS, may want to be spoken with otherwise: Spark will know how.
"""

from __future__ import annotations

import socket
import struct
from typing import Final

from gamekeeper.data.engine.spark.address import Address, Kind

_FETCH, _FETCH_FAILED = 0, 2
# The length of the whole, the kind of message, the number of a stream and of a block in it.
_BLOCK: Final = struct.Struct(">qbqi")
_SETTINGS: Final = 4
# The words that HTTP/2 begins with, and no settings: their length, kind, marks and stream.
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + struct.pack(">xHBBI", 0, _SETTINGS, 0, 0)
_TLS_ALERT: Final = b"\x15\x03"
_HEAD = 9


def speaks_spark(address: Address, seconds: float) -> bool:
    """Tell, within some seconds each, whether at some place of the address Spark answers."""
    if address.kind is Kind.CONNECT and "use_ssl=true" in address.text.casefold():
        return True
    return any(_answers(address.kind, host, port, seconds) for host, port in address.places)


def _answers(kind: Kind, host: str, port: int, seconds: float) -> bool:
    connect = kind is Kind.CONNECT
    hello = _PREFACE if connect else _BLOCK.pack(_BLOCK.size, _FETCH, 0, 0)
    heard = b""
    try:
        with socket.create_connection((host.strip("[]"), port), seconds) as line:
            line.sendall(hello)
            while len(heard) < _HEAD and (more := line.recv(64)):
                heard += more
    except ConnectionError:
        return not connect
    except OSError:
        return False  # nobody said anything in time
    if connect:
        return len(heard) >= _HEAD and heard[3] == _SETTINGS
    if not heard or heard.startswith(_TLS_ALERT):
        return True
    return len(heard) >= _HEAD and heard[8] == _FETCH_FAILED
