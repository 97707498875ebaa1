from gamekeeper.report.attacks.comparison import comparison_report as comparison_report
from gamekeeper.report.drawings.graphs import (
    draw_harmonization_graph as draw_harmonization_graph,
    draw_partition_graph as draw_partition_graph,
)
from gamekeeper.report.mapping.mapping_report import (
    build_mapping_report as build_mapping_report,
    write_mapping_report as write_mapping_report,
)
from gamekeeper.report.attacks.release_report import released_report as released_report
from gamekeeper.report.risk_page import (
    RiskReport as RiskReport,
    build_risk_report as build_risk_report,
    write_risk_report as write_risk_report,
)
from gamekeeper.report.attacks.risk_report import assessment_report as assessment_report
