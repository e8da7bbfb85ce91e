r"""Tables of LaTeX's booktabs. Columns have fixed decimals, so right alignment aligns the points."""

from __future__ import annotations

from collections.abc import Sequence

_ESCAPES = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "−": r"\ensuremath{-}",
    "–": "--",
    "∞": r"\ensuremath{\infty}",
    "√": r"\ensuremath{\surd}",
    "·": r"\ensuremath{\cdot}",
    "×": r"\ensuremath{\times}",
    "≥": r"\ensuremath{\geq}",
    "≤": r"\ensuremath{\leq}",
    "↑": r"\ensuremath{\uparrow}",
    "↓": r"\ensuremath{\downarrow}",
    "…": r"\ldots{}",
    "χ": r"\ensuremath{\chi}",
    "²": r"\ensuremath{^2}",
}


def escape(text: object) -> str:
    """The text with LaTeX's special characters escaped."""
    return "".join(_ESCAPES.get(sign, sign) for sign in str(text).replace("\n", " "))


class BoldCell(str):
    """The text of a cell that is set in bold: the best value of a column."""

    __slots__ = ()


def table(name: str, columns: str, head: Sequence[str], body: Sequence[Sequence[str]], caption: str) -> str:
    """A floating table; every cell is escaped, an empty row is a rule."""
    lines = [" & ".join(_cell(cell) for cell in row) + r" \\" if row else r"\midrule" for row in body]
    if not lines:
        lines = [rf"\multicolumn{{{len(head)}}}{{l}}{{no result yet}} \\"]
    return "\n".join(
        [
            r"\begin{table}[t]",
            r"  \centering",
            rf"  \caption{{{escape(caption)}}}",
            rf"  \label{{tab:{name.replace('_', '-')}}}",
            rf"  \begin{{tabular}}{{{columns}}}",
            r"    \toprule",
            "    " + " & ".join(escape(cell) for cell in head) + r" \\",
            r"    \midrule",
            *(f"    {line}" for line in lines),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _cell(text: str) -> str:
    return rf"\textbf{{{escape(text)}}}" if isinstance(text, BoldCell) else escape(text)
