"""The wire types of protocol version 2, as far as they differ from version 1's.

A definition that is the same in both versions has one class, in the module of that name in :mod:`acp_host.wire`; the
modules here hold the others, by the same topics. :mod:`acp_host.wire.v2.definitions` has them all by name.

Requests and answers are translated to and from version 1's vocabulary, and updates to session events
(:mod:`acp_host.translate.v2`). Above that layer these classes are met by who reads the updates themselves, and where
version 1 has nothing of the kind: states, terminals of the agent, the cancelling of a single call.
"""
