"""The package from Python: run studies, score images, read runs as frames (`import convergebench as cb`)."""
