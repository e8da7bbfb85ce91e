"""The folder of a run: journal, images, manifest, lock; the only room with SQL."""
