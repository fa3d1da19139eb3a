"""What Harn adds to ACP's messages, mostly under ``_meta.harn``, in typed form.

Nothing here is required of an agent: what is absent is ``None`` or empty, what has the wrong type counts as absent and
is told as a problem, words of a vocabulary are kept as they came, and what has no attribute here is in ``raw``.

Specification: the bridge protocol of Harn.
"""
