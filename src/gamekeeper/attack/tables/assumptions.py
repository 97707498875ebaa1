"""What the person who attacks a release has taken for granted, as it stands in the provenance."""

from __future__ import annotations

from gamekeeper.data.tables.release import Release


def assumptions(release: Release) -> dict[str, str]:
    """Return the axes that were said to be disjoint although their labels look like sums.

    Examples
    --------
    >>> codes = {"code": ["A", "A01", "A02"]}
    >>> table = {"margin": ["code"], "counts": [5, 3, None]}
    >>> assumptions(Release.typed(codes, [table], disjoint=["code"]))
    {'disjoint': 'code'}
    """
    return {"disjoint": ", ".join(release.doubted)} if release.doubted else {}
