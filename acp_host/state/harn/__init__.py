"""What a Harn agent tells beside the conversation, as state: one module a topic, each with its entries and its reducer.

:class:`~acp_host.state.harn.state.HarnState` holds the topics of a session. It is made with the first event that
concerns one of them, so that a session of any other agent has none of this, and imports no topic.

A topic is a module here, a member of :class:`~acp_host.state.harn.snapshot.HarnSnapshot` and a line in
:class:`~acp_host.state.harn.state.HarnState`; a module in :mod:`acp_host.translate.harn` that reads its updates, and
their lines in :mod:`acp_host.translate.harn.kinds`. The JSON form and the deltas follow from the types.
"""
