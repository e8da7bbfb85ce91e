"""Built-in names → where they live. Read only when a name is looked up."""

TABLE: dict[str, str] = {
    "roundtrip": "convergebench.studies.roundtrip:RoundTrip",
    "replicate": "convergebench.studies.replicate:Replicate",
    "audit": "convergebench.studies.audit:Audit",
    "factory": "convergebench.studies.factory:Factory",
    "restoration": "convergebench.studies.restoration:Restoration",
    "session": "convergebench.studies.session:SessionStudy",
}
