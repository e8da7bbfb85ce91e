"""Local models: edit pipelines of the diffusers library as editors.

`families` declares the models, `options` their settings; `checkpoints` finds the files, `loading` makes a pipeline of
them, `calling` runs it on images, and `batcher` combines the requests of several chains into one call. Importing any
of it loads neither torch nor diffusers.
"""
