"""What was said: messages, thoughts, and all kinds of content."""

from __future__ import annotations

from acp_host.state import events
from acp_host.testing.gallery.samples import BLOCKS, CODE, IMAGE, MARKDOWN, PARAGRAPH, text
from acp_host.testing.gallery.scenes import Play, Scenes
from acp_host.testing.gallery.stage import Stage
from acp_host.wire.content import ImageContent, ResourceLink, TextContent

__all__ = ["SCENES"]

SCENES = Scenes("messages")


@SCENES.scene("none", "a session in which nothing was said yet")
def none(stage: Stage) -> None:
    pass


@SCENES.scene("user", "what the user has said, and no answer yet")
def user(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")


@SCENES.scene("user_with_attachments", "a prompt with a file and an image")
def user_with_attachments(stage: Stage) -> None:
    stage.prompts(
        "Why does this look so?",
        ResourceLink("dates.py", "file:///work/project/dates.py"),
        ImageContent(IMAGE, "image/png"),
    )


@SCENES.scene("user_from_elsewhere", "what the user has said to another client, as the agent repeats it")
def user_from_elsewhere(stage: Stage) -> None:
    stage.tells("user_message_chunk", content=text("I said this in the terminal."), messageId="m1")
    stage.says("And I have heard it.", messageId="m2")


@SCENES.scene("assistant", "a question and its answer")
def assistant(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    stage.says(PARAGRAPH)
    stage.ends()


@SCENES.scene("streaming", "an answer of which more comes")
def streaming(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    for piece in (PARAGRAPH[:40], PARAGRAPH[40:55], PARAGRAPH[55:90]):
        stage.says(piece)


@SCENES.scene("markdown", "an answer with everything that Markdown has")
def markdown(stage: Stage) -> None:
    stage.prompts("What did you find?")
    stage.says(MARKDOWN)
    stage.ends()


@SCENES.scene("unfinished_markdown", "an answer that stops in the midst of a block of code")
def unfinished_markdown(stage: Stage) -> None:
    stage.prompts("What did you find?")
    stage.says(f"Look at **this:\n\n```python\n{CODE[:40]}")


@SCENES.scene("thought", "a thought, and the answer after it")
def thought(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    stage.thinks("Is it the format? The day comes first here.\n\nI look at `parse_date`.")
    stage.says(PARAGRAPH)
    stage.ends()


@SCENES.scene("thinking", "a thought of which more comes")
def thinking(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    stage.thinks("Is it the format? The day")


@SCENES.scene("several_turns", "a conversation of three turns")
def several_turns(stage: Stage) -> None:
    for number, (prompt, answer) in enumerate(
        [("Fix the failing test.", PARAGRAPH), ("Are there more of the kind?", "Two."), ("Fix them, too.", "Done.")]
    ):
        stage.prompts(prompt)
        stage.thinks("I look at it.", messageId=f"thought-{number}")
        stage.says(answer, messageId=f"answer-{number}")
        stage.ends()
        stage.passes(60)


@SCENES.scene("replayed", "a conversation that was loaded again, and a new turn after it")
def replayed(stage: Stage) -> None:
    stage.folds(events.ReplayStarted())
    stage.tells("user_message_chunk", content=text("Fix the failing test."))
    stage.says(PARAGRAPH)
    stage.folds(events.ReplayAnswered(), events.ReplayEnded())
    stage.prompts("Go on.")
    stage.says("I go on.")
    stage.ends()


@SCENES.scene("between_turns", "what the agent says without having been asked")
def between_turns(stage: Stage) -> None:
    stage.prompts("Watch the build.")
    stage.says("I watch it.")
    stage.ends()
    stage.passes(600)
    stage.says("The build has failed.", messageId="later")


@SCENES.scene("reminder_before_prompt", "context that the host has put before the user's words, marked as that")
def reminder_before_prompt(stage: Stage) -> None:
    note = events.ReminderShown("rmd-1", "dates.py changed on disk.")
    stage.prompts("Go on.", leading=[(note, TextContent(note.body))])
    stage.says("I read it again.")
    stage.ends()


@SCENES.scene("between_sessions", "a message of a subagent")
def between_sessions(stage: Stage) -> None:
    stage.prompts("Review the change.")
    stage.tells(
        "session_message",
        messageId="sm-1",
        senderSessionId="child-1",
        recipientSessionId="session-1",
        content=[text("The review found one problem.")],
    )
    stage.ends()


@SCENES.scene("unknown_update", "an update of a kind that is not known")
def unknown_update(stage: Stage) -> None:
    stage.prompts("Go on.")
    stage.tells("weather_report", place="Bern", degrees=3)
    stage.ends()


@SCENES.scene("unreadable_update", "an update of a known kind that cannot be read")
def unreadable_update(stage: Stage) -> None:
    stage.prompts("Go on.")
    stage.tells("tool_call", title=5)
    stage.ends()


@SCENES.scene("unserved_request", "the agent has asked for a method that the host does not have; see the diagnostics")
def unserved_request(stage: Stage) -> None:
    stage.prompts("Show me the diff.")
    stage.asks("editor/open_diff", sessionId="session-1", left="a.py", right="b.py")
    stage.says("Your editor cannot show diffs.")
    stage.ends()


@SCENES.scene("thousand_entries", "a long session, for lists that show a part of it")
def thousand_entries(stage: Stage) -> None:
    for turn in range(250):
        stage.prompts(f"Question {turn}")
        stage.thinks("I think about it.", messageId=f"thought-{turn}")
        stage.tells("tool_call", toolCallId=f"call-{turn}", title=f"Read file {turn}", kind="read", status="completed")
        stage.says(f"Answer {turn}. {PARAGRAPH}", messageId=f"answer-{turn}")
        stage.ends()


def _answer(block: object) -> Play:
    def play(stage: Stage) -> None:
        stage.prompts("Show it to me.")
        stage.tells("agent_message_chunk", content=block)
        stage.ends()

    return play


for _name, (_shows, _block) in BLOCKS.items():
    SCENES.add(f"content_{_name}", f"in an answer: {_shows}", _answer(_block))


@SCENES.scene("content_mixed", "an answer with text, an image and a link in it")
def content_mixed(stage: Stage) -> None:
    stage.prompts("Show it to me.")
    stage.says("This is how it looks: ")
    for name in ("image", "resource_link"):
        stage.tells("agent_message_chunk", content=BLOCKS[name][1])
    stage.says(" That is all.")
    stage.ends()
