"""Open weights on this machine: edit pipelines of the diffusers library behind the editors' seam.

What a model needs is declared in `families`, what may be set in `options`; `checkpoints` finds the files, `loading`
makes a pipeline of them, `calling` sends images through it, `batcher` lets waiting chains share one call. Importing any
of it loads neither torch nor diffusers.
"""
