"""The replication report: a PDF of a few pages, every number of which is read from the results."""

from normint.workbook.report.typesetting import build

__all__ = ["build"]
