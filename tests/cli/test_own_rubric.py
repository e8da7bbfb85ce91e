"""A rubric of one's own, from `cbench measure` to the report."""

from __future__ import annotations

from convergebench.conductor.analyse import report_input
from tests.cli.conftest import World
from tests.roles.server import message, serving

RUBRIC = """
name = "mood"
pictures = ["subject"]
template = "How merry? $reply"
[[reply.fields]]
name = "merry"
scale = [0, 100]
about = "how merry"
[metric]
value = "merry"
better = "higher"
"""


def test_a_rubric_file_is_measured_and_the_report_knows_what_it_is(world: World) -> None:
    world.cbench("run", "study.toml", "--run", "runs/x", "--no-report")
    (world.root / "mood.toml").write_text(RUBRIC)
    with serving(message('{"merry": 40}')) as server:
        table = server.table()
        (world.root / "roles.toml").write_text(
            f'[roles.rater]\nkind = "served"\nbase_url = "{table.base_url}"\nmodel = "{table.model}"\n'
        )
        said = world.cbench("measure", "runs/x", "--metric", "mood.toml", "--roles", "roles.toml").stdout
    assert "values added" in said
    assert "no value for" not in said
    given = report_input(world.root / "runs" / "x")
    assert given.facts["mood"].better == "higher"
    assert set(given.measurements.filter(given.measurements["metric"] == "mood")["value"]) == {40.0}
    assert "mood" in given.analysis.curves["metric"]
