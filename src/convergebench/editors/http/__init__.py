"""`http`: any HTTP endpoint as an editor, described in the study file: what is sent, and where the picture comes back.

`options` is what the study file says, `template` fills in what is sent, `paths` looks into answers (JMESPath), `editor`
makes the calls.
"""
