"""What a Harn agent tells beside the conversation, as state: one module a topic, each with its entries and its reducer.

:class:`~acp_host.state.harn.state.HarnState` holds the topics of a session. It is made with the first event that
concerns one of them, so that a session of any other agent has none of this, and imports none of it.
"""
