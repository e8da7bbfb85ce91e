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
    "²": r"\ensuremath{^2}",
    "≈": r"\ensuremath{\approx}",
    "≠": r"\ensuremath{\neq}",
    "→": r"\ensuremath{\rightarrow}",
    "←": r"\ensuremath{\leftarrow}",
    "½": r"\ensuremath{\frac12}",
    "\u00a0": "~",
    "\u202f": r"\,",
    **{
        sign: rf"\ensuremath{{\{name}}}"
        for sign, name in {
            **{"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "θ": "theta", "κ": "kappa"},
            **{"λ": "lambda", "μ": "mu", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "χ": "chi"},
            **{"ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Π": "Pi"},
            **{"Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega"},
        }.items()
    },
}
_TYPESET = frozenset(map(chr, range(0x20, 0x7F))) | (
    frozenset(map(chr, range(0xA1, 0x17F))) - frozenset("\u00adĦħĸĿŀŉŦŧ") | frozenset("‘’“”—•€™†")
)
"""Characters that pdflatex sets in T1 without further packages; all others are written as their numbers."""


def escape(text: object) -> str:
    """The text with LaTeX's special characters escaped; characters that pdflatex does not know become `[U+4F60]`."""
    return "".join(_escaped(sign) for sign in str(text))


def _escaped(sign: str) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    if sign in _TYPESET:
        return sign
    return " " if sign.isspace() else f"{{[U+{ord(sign):04X}]}}"


class BoldCell(str):
    """The text of a cell that is set in bold: the best value of a column."""

    __slots__ = ()


def table(name: str, columns: str, head: Sequence[str], body: Sequence[Sequence[str]], caption: str) -> str:
    """A floating table; every cell is escaped, an empty row is a rule."""
    lines = [_guarded(" & ".join(_cell(cell) for cell in row)) + r" \\" if row else r"\midrule" for row in body]
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


def _guarded(line: str) -> str:
    r"""The line, not to be read as an option of the `\\` before it."""
    return f"{{}}{line}" if line.lstrip().startswith(("[", "*")) else line


def _cell(text: str) -> str:
    return rf"\textbf{{{escape(text)}}}" if isinstance(text, BoldCell) else escape(text)
