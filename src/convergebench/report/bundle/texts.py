"""The fixed texts of a bundle: its main document, its README, and the entry to cite ConvergeBench."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version


@dataclass(frozen=True)
class Citation:
    """How to cite the package; CITATION.cff says the same."""

    author: str = "The ConvergeBench authors"
    title: str = "ConvergeBench: what happens to an image when a model edits it again and again?"

    def render(self) -> str:
        """As a BibTeX entry, with the version that is installed."""
        try:
            used = version("convergebench")
        except PackageNotFoundError:
            used = "unknown"
        return (
            "@misc{convergebench,\n"
            f"  author = {{{{{self.author}}}}},\n  title = {{{{{self.title}}}}},\n  version = {{{used}}},\n"
            "  note = {Software, version " + used + "},\n}\n"
        )


BIB = Citation()

MAIN = r"""% Compiles as it is: latexmk -pdf main.tex. A file that you have edited is not written again.
\documentclass{{article}}
\usepackage[T1]{{fontenc}}
\usepackage[utf8]{{inputenc}}
\usepackage{{lmodern}}
\usepackage[margin=25mm]{{geometry}}
\usepackage{{booktabs}}
\usepackage{{longtable}}
\usepackage{{adjustbox}}
\usepackage{{graphicx}}
\usepackage[font=small]{{caption}}
\sloppy
\providecommand{{\cbroot}}{{.}} % the folder of this bundle, seen from the document that uses it
\input{{\cbroot/macros}}
\begin{{document}}
\input{{\cbroot/overview}}
{inputs}

\section*{{Source images}}
\input{{\cbroot/credits}}

Measured with ConvergeBench \cite{{convergebench}}.
\bibliographystyle{{plain}}
\bibliography{{\cbroot/citation}}
\end{{document}}
"""

README = """# LaTeX of ConvergeBench runs

Made by

```
{command}
```

Type it again to bring tables, figures and numbers up to date; files that you have edited are left as they are.

| file | what it is |
| --- | --- |
| `main.tex` | a document that compiles as it is: `latexmk -pdf main.tex` |
| `RUN/section.tex` | everything of one run; `RUN/tables/*.tex` and `RUN/figures/*.pdf` are its parts ({runs}) |
| `macros.tex` | every number by name: `\\cbvalue{{RUN.EDITOR.score}}`; `RUN/numbers.md` lists the names |
| `overview.tex` | the scores of several runs in one table |
| `credits.tex` | the source images, with the credit that their licences ask for |
| `citation.bib` | the entry to cite |

In your own document: `\\usepackage{{booktabs,longtable,adjustbox,graphicx}}`,
`\\newcommand{{\\cbroot}}{{PATH/TO/THIS/FOLDER}}`, `\\input{{\\cbroot/macros}}`, then for example
`\\input{{\\cbroot/RUN/tables/ranking}}`.

State in the text: the number of images and edits, the rounds, the alignment, the metrics with their versions, the
interval and p of a difference, and how many chains were refused or failed. All of it is in the tables' captions or in
the run's `manifest.json`.
"""
