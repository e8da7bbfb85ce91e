"""`cbench measure --metric self-evaluation` on a run whose editors said what they thought, with and without a model."""

from __future__ import annotations

from tests.cli.conftest import World
from tests.engine.parts import query
from tests.roles.server import message, serving


def test_summaries_are_read_long_after_the_run_offline_or_by_a_model(world: World) -> None:
    small = ("--editor", "sim-perfect", "--limit", "1", "--rounds", "1", "--metric", "rmse")
    world.cbench("run", "study.toml", "--run", "runs/x", "--no-report", *small)
    said = world.cbench("measure", "runs/x", "--metric", "self-evaluation").stdout
    assert "values added" in said
    assert "no value for" not in said
    counted = query(
        world.root / "runs" / "x",
        "select count(*), sum(value), min(detail) from measurements where metric like 'self-%'",
    )
    steps = query(world.root / "runs" / "x", "select count(*) from chain_steps")[0][0]
    assert counted == [(steps, 0.0, "word list, not a language model")], "simulated editors speak of no damage"

    with serving(message("yes")) as server:
        table = server.table()
        (world.root / "roles.toml").write_text(
            f'[roles.reader]\nkind = "served"\nbase_url = "{table.base_url}"\nmodel = "{table.model}"\n'
        )
        refused = world.cbench(
            "measure", "runs/x", "--metric", "self-evaluation", "--roles", "roles.toml", ok=False
        ).stderr
        assert "self-evaluation" in refused, "one run has one reader: a word list's values never stand among a model's"
        assert not server.requests
