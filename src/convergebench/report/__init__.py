"""Reports: the page, the figures, the tables and the terminal. Draws what analysis found; computes no statistic."""

from convergebench.report.html import write_report
from convergebench.report.input import ReportInput
from convergebench.report.latex import write_latex
from convergebench.report.plots import write_plots
from convergebench.report.tables import write_tables
from convergebench.report.terminal import print_ranking, ranking_json

__all__ = [
    "ReportInput",
    "print_ranking",
    "ranking_json",
    "write_latex",
    "write_plots",
    "write_report",
    "write_tables",
]
