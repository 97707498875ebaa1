"""XML without entities, external files or network, its names without namespaces.

A document type may be there, because old codebooks name one; it is never fetched. A document that
declares entities of its own is refused: they can be made to grow without end or to name files.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from gamekeeper.importing.files.limits import malformed

_DEEPEST = 200


class _Refused(Exception):  # noqa: N818 - ends the parser, never leaves this module
    pass


def parsed(content: bytes, name: str) -> Element:
    """Return the root of an XML document, every name without its namespace.

    Examples
    --------
    >>> root = parsed(b'<c:a xmlns:c="x"><c:b id="1">text</c:b></c:a>', "a.xml")
    >>> root.tag, root[0].tag, root[0].text
    ('a', 'b', 'text')
    """
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise _Refused(f"It is nested more than {_DEEPEST} deep.", "Export it again.")
        builder.start(_local(tag), {_local(key): value for key, value in attributes.items()})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_local(tag))

    def entity(*_: object) -> None:
        do = "Export it again without them."
        raise _Refused("It declares entities, and these are not expanded.", do)

    def external(*_: object) -> int:
        return 1  # as if it were empty

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = entity
    parser.ExternalEntityRefHandler = external
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    try:
        parser.Parse(content, True)
        return builder.close()
    except _Refused as refusal:
        raise malformed(name, *refusal.args) from None
    except expat.ExpatError as fault:
        raise malformed(
            name, f"It is not well-formed XML: line {fault.lineno} is broken."
        ) from None
    except (AssertionError, LookupError, ValueError):
        raise malformed(name, "It is not well-formed XML.") from None


def _local(tag: str) -> str:
    return tag.rpartition("}")[2].rpartition(":")[2]


def text_of(element: Element | None) -> str:
    """Return all text within an element."""
    return "" if element is None else "".join(element.itertext())
