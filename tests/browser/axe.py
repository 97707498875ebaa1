"""What axe finds wrong with a page (WCAG 2.2 AA)."""

from __future__ import annotations

from pathlib import Path

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"


def faults(page) -> list[str]:
    """Return the faults of the page as it stands, each with the place that has it."""
    found = page.evaluate(
        """() => axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]})"""
    )
    return [
        f"{fault['id']}: {node['html'][:200]}"
        for fault in found["violations"]
        for node in fault["nodes"]
    ]
