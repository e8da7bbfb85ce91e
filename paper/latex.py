"""The paper's result tables in LaTeX (booktabs), from the committed ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from convergebench.report.booktabs import escape
from paper.tables import Cell, Table

Tables = Mapping[str, Table]
Lines = Iterable[Sequence[str]]


def number(cell: Cell) -> str:
    """The number of a cell as the page prints it, without its interval."""
    return escape(cell.text.partition(" (")[0].replace("-", "−") or "–")


def with_interval(cell: Cell) -> str:
    """Number and interval: `6.1 (3.2, 7.5)`."""
    head, found, rest = cell.text.partition(" (")
    if not found:
        return number(cell)
    inside = rest.removesuffix(")").replace(" to ", ", ").replace(" … ", ", ").replace("-", "−")
    return f"{escape(head.replace('-', '−'))} {{\\tiny ({escape(inside)})}}"


def name(text: str) -> str:
    """The name of an editor or metric."""
    return rf"\ed{{{escape(text)}}}"


def booktabs(label: str, columns: str, head: Sequence[str], lines: Lines, caption: str, *, wide: bool = False) -> str:
    """A floating table; cells are LaTeX, an empty line is a rule."""
    kind = "table*" if wide else "table"
    body = [" & ".join(line) + r" \\" if line else r"\midrule" for line in lines]
    return "\n".join(
        [
            rf"\begin{{{kind}}}[t]", r"  \centering\scriptsize\setlength{\tabcolsep}{3pt}",
            rf"  \caption{{{caption}}}", rf"  \label{{tab:{label}}}", rf"  \begin{{tabular}}{{{columns}}}",
            r"    \toprule", "    " + " & ".join(head) + r" \\", r"    \midrule", *(f"    {line}" for line in body),
            r"    \bottomrule", r"  \end{tabular}", rf"\end{{{kind}}}", "",
        ]
    )  # fmt: skip


def copies(tables: Tables) -> str:
    """SSIM and PSNR of copies by autoencoders, restorers and MAXIM."""
    lines: list[Sequence[str]] = []
    groups = (("copies", "s50"), ("restorer_copies", "s100"), ("maxim", "s10"))
    for group, last in groups:
        lines += [[]] if lines else []
        for row in tables[f"{group}_ssim"].rows:
            decibels = tables[f"{group}_psnr"].row(editor=row["editor"].text)
            cells = [number(one[step]) for one in (row, decibels) for step in ("s1", "s10", last)]
            if last == "s10":
                cells[2] = cells[5] = "--"
            lines.append([name(row["editor"].text), *cells])
    head = ["editor", *(rf"${step}$" for step in ("1", "10", "N")), *(rf"${step}$" for step in ("1", "10", "N"))]
    top = r"& \multicolumn{3}{c}{SSIM after copies} & \multicolumn{3}{c}{PSNR (dB)} \\ "
    top += r"\cmidrule(lr){2-4}\cmidrule(lr){5-7} "
    caption = (
        "Copies by networks that are asked for nothing, means over photographs. $N$ is 50 for the autoencoders (top) "
        "and 100 for the restorers (middle); MAXIM (bottom) ran ten steps."
    )
    return booktabs("copies", "lrrrrrr", [top + head[0], *head[1:]], lines, caption)


def flux(tables: Tables) -> str:
    """The published chains of FLUX.1 Kontext."""
    columns = ("ssim", "psnr", "lpips", "brisque", "niqe", "piqe")
    lines = [
        [escape(row["after"].text.replace("1 round trip", "1")), *(number(row[column]) for column in columns)]
        for row in tables["flux"].rows
    ]
    head = ["after", "SSIM", "PSNR", "LPIPS", r"BRISQUE\,$\downarrow$", r"NIQE\,$\downarrow$", r"PIQE\,$\downarrow$"]
    caption = (
        "Nine published chains of FLUX.1 Kontext [dev] (three rooms, three edits), means over chains by round trips."
    )
    return booktabs("flux", "lrrrrrr", head, lines, caption)


def settling(tables: Tables) -> str:
    """The share of right verdicts, by kind of chain and length."""
    shown = {
        "contracts, q 0.5": "contraction, $q=0.5$", "contracts, q 0.9": "contraction, $q=0.9$",
        "contracts, q 0.8, noise 0.01": "contraction, $q=0.8$, noise",
        "contracts, q 0.8, dull noise 0.01": "the same, common noise", "noise ball around the source": "noise ball",
        "march slowing as 1/n": r"march, steps $\propto 1/n$", "random walk": "random walk",
        "random walk, dull": "random walk, common noise", "cycle of 3, noise 0.01": "cycle of 3, noise",
        "grows, q 1.1": "growth, $q=1.1$",
    }  # fmt: skip
    found = {(row["chain"].text, row["rounds"].number): row for row in tables["settling_shares"].rows}
    lines = []
    for chain, title in shown.items():
        rows = [found[chain, rounds] for rounds in (10, 20, 40)]
        truth = rows[0]["truth"].text
        wrong = [100 - row["right"].number - row["too_early"].number for row in rows]
        cells = [f"{row['right'].number:.0f} / {bad:.0f}" for row, bad in zip(rows, wrong, strict=True)]
        lines.append([title, truth, *cells])
    head = ["chain", "truth", "10 rounds", "20", "40"]
    caption = (
        "Verdicts on chains of known truth, 200 of each kind: \\% right / \\% wrong; the rest is \\emph{too early}."
    )
    return booktabs("settling", "llrrr", head, lines, caption)


def cheating(tables: Tables) -> str:
    """Honest editors and cheats under a naive score and ours."""
    lines: list[Sequence[str]] = []
    for row in tables["cheating"].rows:
        if row["editor"].text == "idle":
            lines.append([])
        interval = escape(row["interval"].text)
        cells = [number(row[column]) for column in ("naive", "cases", "score")]
        lines.append([escape(row["what"].text), *cells, rf"{{\tiny {interval}}}", escape(row["rank"].text)])
    head = ["editor", "naive", "cases", "$C$", r"95\,\%", "rank"]
    caption = (
        "Editors that cheat: twelve photographs, five round trips of a mirroring. \\emph{Cases}: those that the naive "
        "score uses."
    )
    return booktabs("cheating", "lrrrlr", head, lines, caption)


def mitigations(tables: Tables) -> str:
    """What mitigations gain around learned damage."""
    found = {row["editor"].text: row for row in tables["mitigations_learned"].rows}
    lines: list[Sequence[str]] = []
    for inner in ("taesd", "taef1", "taef2", "span-x2"):
        lines += [[]] if lines else []
        base = f"then(sim-perfect, {inner})"
        for title, key in (("none", base), ("paste-back", f"paste-back({base})"), ("anchor", f"anchor({base})")):
            row = found[key]
            gain = with_interval(row["gain"]) if row["gain"].text else ""
            first = name(inner) if title == "none" else ""
            kind = title if title == "none" else name(title)
            lines.append(
                [first, kind, with_interval(row["life"]), gain, escape(row["done"].text), number(row["undone"])]
            )
    head = ["through", "mitigation", "half-life", "gain", "done", "undone"]
    caption = (
        "An editor that does what it is asked for and then passes the picture through a network, with and without "
        "mitigations: half-life at SSIM 0.9 in round trips and gain over the control; twelve photographs, eight rounds."
    )
    return booktabs("mitigations", "lllllr", head, lines, caption)


TABLES: dict[str, Callable[[Tables], str]] = {
    "copies": copies, "flux": flux, "settling": settling, "cheating": cheating, "mitigations": mitigations,
}  # fmt: skip


def write_latex(tables: Tables, folder: Path) -> list[Path]:
    """Every table as `table-NAME.tex`."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for label, make in TABLES.items():
        written.append(folder / f"table-{label}.tex")
        written[-1].write_text(make(tables), encoding="utf-8")
    return written
