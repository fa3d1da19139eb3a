"""The messages of the protocol as typed values, and the way between those and bytes; no I/O.

In the order in which a message is read:

===================  =====================================================================================
``framing``          bytes → lines
``chunk_runs``       the short way: neighbouring chunks of one message, without reading each
``codec``            a line → a JSON object; ``_scan`` finds what a line is about that cannot be read
``jsonrpc``          an object → a request, a response, a notification
``methods``          a method → the types of its parameters and its result
``converters``       an object ⇄ its type, by ``_strict``, ``_tolerant`` and ``_encode``
===================  =====================================================================================

What a type is, ``_model``, ``_unions`` and ``_shape`` say. The types themselves are in a module for each topic, and all
of them by the schema's names in ``definitions``; those of version 2 that differ are in ``v2``, Harn's in ``harn``.
"""
