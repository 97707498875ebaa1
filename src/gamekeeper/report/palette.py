"""The few colours that drawings, plots and reports share; told apart in grey and by colour-blind eyes."""

from __future__ import annotations

INK = "#1c2733"
MUTED = "#5b6875"
EDGE = "#8a96a3"
ACCENT = "#1f5f99"
OBSERVED_FILL = "#a9cdf0"
OBSERVED_LINE = "#1f5f99"
HARMONIZATION_FILL = "#ffe07a"
HARMONIZATION_LINE = "#9a7400"
NODE_FILL = "#ffffff"
NODE_LINE = "#5b6875"
SINK_FILL = "#e6ebf0"
SINK_LINE = "#a4afba"
SELECTED_FILL = "#f7a545"
SELECTED_LINE = "#b35f00"
OUTSIDE_FILL = "#fde3c4"
