"""A small open pipeline that follows words: finds objects, fills holes with MI-GAN, adds cut-outs of real objects.

    instruction ─▶ task ─▶ what is in the image (networks of `vision`) ─▶ remove, add, replace or recolour ─▶ picture

It keeps nothing from call to call: to remove an object, it finds it again in the image it is given.
"""
