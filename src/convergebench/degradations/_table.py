"""Built-in names → modules. Read only when a name is looked up."""

_NAMES = (
    "defocus-blur",
    "motion-blur",
    "digital-zoom",
    "old-film",
    "old-photo-grey",
    "old-photo-colour",
    "surveillance",
    "mixed",
)

TABLE: dict[str, str] = {
    name: f"convergebench.degradations.{name.replace('-', '_')}:{name.replace('-', '_')}" for name in _NAMES
}
