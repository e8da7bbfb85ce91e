"""From measurements to findings: frames in, frames out."""

from convergebench.analysis.findings import analyse
from convergebench.analysis.result import ANALYSIS_VERSION, Analysis, AnalysisInput
from convergebench.studies.analysis_settings import AnalysisSettings

__all__ = ["ANALYSIS_VERSION", "Analysis", "AnalysisInput", "AnalysisSettings", "analyse"]
