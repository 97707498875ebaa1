"""Events: told to all who listen, to nobody for too long, and not to those whose session ended."""

from __future__ import annotations

import asyncio

import pytest

from gamekeeper.web import wire as module
from gamekeeper.web.wire import Events


async def heard(events: Events, most: int, **how: object) -> list[str]:
    found: list[str] = []
    async for text in events.listen(("hello", {"who": "ana"}), **how):
        found.append(text)
        if len(found) == most:
            break
    return found


def test_those_who_listen_are_told() -> None:
    events = Events()

    async def tell() -> list[list[str]]:
        listening = [asyncio.create_task(heard(events, 3)) for _ in range(2)]
        while events.n_listeners < 2:
            await asyncio.sleep(0)
        await asyncio.to_thread(events.publish, "revision", revision=7)
        return await asyncio.gather(*listening)

    for told in asyncio.run(tell()):
        assert told[1:] == [
            'event: hello\ndata: {"who": "ana"}\n\n',
            'event: revision\ndata: {"revision": 7}\n\n',
        ]


def test_one_who_does_not_read_misses_what_is_old() -> None:
    events = Events()

    async def tell() -> list[str]:
        stream = events.listen()
        found = [await anext(stream)]
        for number in range(500):
            events.publish("revision", revision=number)
        await asyncio.sleep(0)
        found += [await anext(stream) for _ in range(100)]
        await stream.aclose()
        return found

    told = asyncio.run(tell())
    assert '"revision": 499' in told[-1]
    assert events.n_listeners == 0


def test_a_session_that_ended_hears_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HEARTBEAT", 0.01)
    events = Events()
    assert len(asyncio.run(heard(events, 50, may_go_on=lambda: False))) < 10
    assert events.n_listeners == 0


def test_all_are_let_go_when_the_server_ends() -> None:
    events = Events()

    async def tell() -> list[str]:
        listening = asyncio.create_task(heard(events, 50))
        while not events.n_listeners:
            await asyncio.sleep(0)
        events.close()
        return await listening

    assert len(asyncio.run(tell())) == 2
