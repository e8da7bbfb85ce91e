"""The page on continuous integration: its commands work, those of its workflow too, and the report is one file."""

from __future__ import annotations

from xml.etree import ElementTree

import yaml

from tests.docs.blocks import Block
from tests.docs.shell import Reader
from tests.docs.tiny import picture

WORKFLOW = ".github/workflows/edit-quality.yml"


def test_the_workflow_does_what_the_page_says(reader: Reader) -> None:
    (reader.root / "photos").mkdir()
    for number in range(6):
        (reader.root / "photos" / f"{number}.png").write_bytes(picture(number))
    assert reader.page("docs/ci.md") == 2
    assert ElementTree.parse(reader.root / "gate.xml").getroot().find(".//testcase") is not None
    (reader.root / "runs" / "now").rename(reader.root / "runs" / "main")
    (reader.root / "report.html").unlink()
    job = yaml.safe_load((reader.root / WORKFLOW).read_text(encoding="utf-8"))["jobs"]["edit-quality"]
    told = [step["run"] for step in job["steps"] if "run" in step]
    typed = [line for line in told if line.startswith("cbench ")]
    assert [line for line in told if line not in typed] == ["pip install convergebench", "cp -r runs/now runs/main"]
    assert reader.follow([Block("sh", line) for line in typed]) == 3
    kept = [step["with"]["path"] for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
    assert kept == ["report.html"]
    page = (reader.root / "report.html").read_text(encoding="utf-8")
    assert "<img" in page
    assert 'src="http' not in page
    assert (reader.root / "worse.xml").is_file()
