"""Built-in names → modules. Read only when a name is looked up."""

_NAMES = (
    *("quick", "builtin", "builtin-512", "builtin-1024"),
    *("portraits-512", "portraits-1024", "objects-512", "objects-1024", "scenes-512", "scenes-1024"),
    *("restoration", "restoration-quick"),
)

TABLE: dict[str, str] = {name: f"convergebench.images.shipped:{name.replace('-', '_')}" for name in _NAMES}
