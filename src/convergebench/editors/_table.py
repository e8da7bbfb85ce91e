"""Built-in names → where they live. Read only when a name is looked up."""

_FAMILY = "convergebench.editors.simulated.family"

TABLE: dict[str, str] = {
    "sim-perfect": f"{_FAMILY}:sim_perfect",
    "sim-jpeg": f"{_FAMILY}:sim_jpeg",
    "sim-resize": f"{_FAMILY}:sim_resize",
    "sim-noise": f"{_FAMILY}:sim_noise",
    "sim-tint": f"{_FAMILY}:sim_tint",
    "sim-blur": f"{_FAMILY}:sim_blur",
    "sim-crop": f"{_FAMILY}:sim_crop",
    "sim-scatter": f"{_FAMILY}:sim_scatter",
    "sim-wrinkle": f"{_FAMILY}:sim_wrinkle",
    "sim-simplify": f"{_FAMILY}:sim_simplify",
    "sim-forgetful": f"{_FAMILY}:sim_forgetful",
    "sim-contracting": f"{_FAMILY}:sim_contracting",
    "sim-cycle": f"{_FAMILY}:sim_cycle",
    "sim-flaky": f"{_FAMILY}:sim_flaky",
    "sim": f"{_FAMILY}:sim",
    "replay": "convergebench.editors.replay:replay",
}
