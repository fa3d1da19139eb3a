"""What a connection does, as OpenTelemetry spans and metrics.

Only :mod:`~acp_host.host.telemetry.settings` is loaded with the library; the rest, and OpenTelemetry with it, where
``connect(telemetry=…)`` asks for it. A connection is watched at its edges: a driver, a table of requests and a state
that tell a :class:`~acp_host.host.telemetry.connection_watch.ConnectionWatch` what they do take the places of those
that do not, so that a connection that nobody watches pays nothing.
"""
