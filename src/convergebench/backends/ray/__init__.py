"""The machines of a Ray cluster. Ray is imported when this backend is opened, never before."""
