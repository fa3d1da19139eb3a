"""What the reference agent says and does differently in ACP v2, which is a draft.

Its handlers and scripts are those of v1. :mod:`~acp_host.testing.v2.speech` puts their words into those of v2, plain
JSON to plain JSON, without the wire types of this library: so an error in those does not hide behind the same error
here. What v2 does in another way, and not only in other words, is in the other modules.
"""
