"""The wire types of protocol version 2, as far as they differ from version 1's.

A definition that is the same in both versions has one class, in the module of that name in :mod:`acp_host.wire`; the
modules here hold the others, by the same topics. :mod:`acp_host.wire.v2.definitions` has them all by name.

Nothing above the ``translate`` layer meets these classes: what comes in is translated to version 1's vocabulary and to
session events, what goes out is translated from it.
"""
