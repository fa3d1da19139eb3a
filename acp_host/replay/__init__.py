"""What a recording amounts to: the states that the host of the conversation had.

A recording is played to a real host: what the agent sent comes in over a transport, and what the recorded host did
(prompts, answers, cancels) is done again. Nothing is executed, written or started: files, terminals and questions are
answered with what was answered then.

* :func:`fold_recording` folds a whole recording at once.
* :class:`RecordingPlayer` plays one at a pace, to a host that can be observed meanwhile.
* :func:`compare_states` says how two folded recordings differ.
"""

from __future__ import annotations

from acp_host.replay.comparing import Difference, compare_states
from acp_host.replay.folding import FoldedRecording, fold_recording
from acp_host.replay.pace import Pace
from acp_host.replay.player import RecordingPlayer

__all__ = ["Difference", "FoldedRecording", "Pace", "RecordingPlayer", "compare_states", "fold_recording"]
