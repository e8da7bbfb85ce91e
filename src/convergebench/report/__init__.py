"""Reports: the page, the figures, the tables and the terminal output. Shows analysis results; computes no statistic."""

from convergebench.report.html import render_report, write_report
from convergebench.report.input import ReportInput
from convergebench.report.latex import write_latex
from convergebench.report.plots import figure, write_plots
from convergebench.report.tables import write_tables
from convergebench.report.terminal import print_ranking, ranking_json

__all__ = [
    "ReportInput",
    "figure",
    "print_ranking",
    "ranking_json",
    "render_report",
    "write_latex",
    "write_plots",
    "write_report",
    "write_tables",
]
