from gamekeeper.report.risk_report import comparison_report as comparison_report
from gamekeeper.report.graphs import (
    draw_harmonization_graph as draw_harmonization_graph,
    draw_partition_graph as draw_partition_graph,
)
from gamekeeper.report.mapping_report import (
    build_mapping_report as build_mapping_report,
    write_mapping_report as write_mapping_report,
)
from gamekeeper.report.tables_report import released_report as released_report
from gamekeeper.report.page import (
    RiskReport as RiskReport,
    build_risk_report as build_risk_report,
    write_risk_report as write_risk_report,
)
from gamekeeper.report.risk_report import assessment_report as assessment_report
