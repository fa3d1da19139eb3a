"""How programs are found and command lines written on Windows, on any system.

The readers of a command line are modelled here: how ``cmd.exe`` expands percent signs and finds its special characters,
and how the C runtime splits arguments. Not run here: ``cmd.exe`` itself, real batch files, job objects, Ctrl+Break and
the pipes of the Proactor loop.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.errors import StartFailed
from acp_host.transports import _windows
from acp_host.transports._launch import Launch

PATHEXT = ".COM;.EXE;.BAT;.CMD"


def find(program: str, *files: str, path: str = r"C:\bin;C:\npm", cwd: str | None = None) -> str | None:
    known = {file.lower() for file in files}
    return _windows.find_program(
        program, env={"Path": path, "PATHEXT": PATHEXT}, cwd=cwd, is_file=lambda name: name.lower() in known
    )


@pytest.mark.parametrize(
    "program, files, found",
    [
        ("npx", [r"C:\npm\npx", r"C:\npm\npx.cmd", r"C:\npm\npx.ps1"], r"C:\npm\npx.CMD"),
        ("npx", [r"C:\npm\npx"], None),
        ("node", [r"C:\bin\node.exe", r"C:\npm\node.cmd"], r"C:\bin\node.EXE"),
        ("node", [r"C:\bin\node.cmd", r"C:\bin\node.exe"], r"C:\bin\node.EXE"),
        ("node.exe", [r"C:\npm\node.exe"], r"C:\npm\node.exe"),
        ("my.agent", [r"C:\npm\my.agent.cmd"], r"C:\npm\my.agent.CMD"),
        ("agent", [r".\agent.exe", r"C:\work\agent.exe"], None),  # never from the working directory
        (r"C:\x\agent", [r"C:\x\agent.exe"], r"C:\x\agent.EXE"),
        (r"C:\x\agent.cmd", [r"C:\x\agent.cmd"], r"C:\x\agent.cmd"),
        (r"C:\x\agent.bin", [r"C:\x\agent.bin"], r"C:\x\agent.bin"),
        (r"tools\agent", [r"C:\work\tools\agent.bat"], r"C:\work\tools\agent.BAT"),
        (r"C:\gone", [], None),
    ],
)
def test_find_program(program: str, files: list[str], found: str | None) -> None:
    assert find(program, *files, cwd=r"C:\work") == found


def test_directories_of_the_path_may_be_quoted_or_empty() -> None:
    assert find("a", r"C:\with ; semicolon\a.exe", path=';;"C:\\with') is None
    assert find("a", r"C:\one two\a.exe", path=';"C:\\one two";') == r"C:\one two\a.EXE"


def test_extensions_have_a_default() -> None:
    found = _windows.find_program("npx", env={"PATH": r"C:\npm"}, cwd=None, is_file=lambda name: name.endswith(".CMD"))
    assert found == r"C:\npm\npx.CMD"


@pytest.mark.parametrize(
    "path, batch",
    [
        (r"C:\npx.cmd", True),
        (r"C:\NPX.BAT", True),
        (r"C:\npx.cmd. .", True),
        (r"C:\npx.exe", False),
        ("bat", False),
    ],
)
def test_is_batch_file(path: str, batch: bool) -> None:
    assert _windows.is_batch_file(path) is batch


@pytest.mark.parametrize(
    "env, path",
    [
        ({"ComSpec": r"D:\sys\cmd.exe"}, r"D:\sys\cmd.exe"),
        ({"ComSpec": "cmd.exe", "SystemRoot": r"D:\Win"}, r"D:\Win\System32\cmd.exe"),
        ({}, r"C:\Windows\System32\cmd.exe"),
    ],
)
def test_interpreter(env: dict[str, str], path: str) -> None:
    assert _windows.interpreter(env) == path


# Quoting

SCRIPT = r"C:\Program Files\npm\npx.cmd"


@pytest.mark.parametrize(
    "argument, written",
    [
        ("plain-1.2:/@x", "plain-1.2:/@x"),
        ("", '""'),
        ("a b", '"a b"'),
        ("a&b", '"a&b"'),
        ("^|<>()!", '"^|<>()!"'),
        ('say "hi"', '"say ""hi"""'),
        ("100%", '"100%%cd:~,%"'),
        ("%PATH%", '"%%cd:~,%PATH%%cd:~,%"'),
        ("C:\\dir\\", '"C:\\dir\\\\"'),
        ("C:\\dir", "C:\\dir"),
        ('a\\"b', '"a\\\\""b"'),
        ("a,b;c=d", '"a,b;c=d"'),
        ("größe", '"größe"'),
        ("\t", '"\t"'),
    ],
)
def test_batch_arguments(argument: str, written: str) -> None:
    line = _windows.batch_arguments(SCRIPT, [argument])
    assert str(line) == f'/d /e:ON /v:OFF /s /c ""{SCRIPT}" {written}"'
    assert read_back(line) == [SCRIPT, argument]


@pytest.mark.parametrize("argument", ["a\nb", "a\rb", "a\0b"])
def test_what_no_batch_file_can_be_given(argument: str) -> None:
    with pytest.raises(ValueError, match="batch file"):
        _windows.batch_arguments(SCRIPT, [argument])


@given(st.lists(st.text(alphabet="ab \\\"%^&|<>()!,;='`~é\t", max_size=12), max_size=4))
def test_every_argument_comes_through(arguments: list[str]) -> None:
    assert read_back(_windows.batch_arguments(SCRIPT, arguments)) == [SCRIPT, *arguments]


@given(st.text(max_size=20).filter(lambda text: _windows._UNWRITABLE.isdisjoint(text)))
def test_any_text_comes_through(argument: str) -> None:
    assert read_back(_windows.batch_arguments(SCRIPT, [argument])) == [SCRIPT, argument]


def test_the_interpreters_line_is_not_quoted_again() -> None:
    line = _windows.batch_arguments(SCRIPT, ["a b", '"'])
    cmd = r"C:\Windows\System32\cmd.exe"
    assert subprocess.list2cmdline((cmd, line)) == f"{cmd} {line!s}"


def read_back(line: str) -> list[str]:
    """Return the arguments that a program behind the batch file would see."""
    line = str(line)
    switches, line = line[: line.index('"')], line[line.index('"') :]
    assert switches == "/d /e:ON /v:OFF /s /c "
    assert line[0] == line[-1] == '"'
    line = expand(line[1:-1])  # /s takes off the outer quotes
    quoted = False
    for char in line:
        quoted ^= char == '"'
        assert quoted or char not in "&|<>()^,;=!", f"{char} is special in {line}"
    assert not quoted
    return split(line)


def expand(line: str) -> str:
    """Expand variables as ``cmd.exe`` does for a command line: what names none stays as it is."""
    variables = {"PATH": "EXPANDED", "A": "EXPANDED", "B": "EXPANDED", "AB": "EXPANDED"}
    done, rest = "", line
    while "%" in rest:
        before, _, rest = rest.partition("%")
        done += before
        name, closed, after = rest.partition("%")
        if closed and name.upper() == "CD:~,":
            rest = after
        elif closed and name.upper() in variables:
            done, rest = done + variables[name.upper()], after
        else:
            done += "%"
    return done + rest


def split(line: str) -> list[str]:
    """Split a command line as the C runtime does."""
    arguments: list[str] = []
    current, quoted, started, index = "", False, False, 0
    while index < len(line):
        char = line[index]
        if char == "\\":
            end = index
            while end < len(line) and line[end] == "\\":
                end += 1
            count, index = end - index, end
            if index < len(line) and line[index] == '"':
                current += "\\" * (count // 2)
                if count % 2:
                    current, index = current + '"', index + 1
            else:
                current += "\\" * count
            started = True
            continue
        if char == '"':
            if quoted and line[index + 1 : index + 2] == '"':
                current, index = current + '"', index + 1
            else:
                quoted = not quoted
            started = True
        elif char in " \t" and not quoted:
            if started:
                arguments.append(current)
            current, started = "", False
        else:
            current, started = current + char, True
        index += 1
    return [*arguments, current] if started else arguments


# As a whole


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs where POSIX path rules find what Windows ones name; only the separator differs."""
    monkeypatch.setattr("acp_host.transports._windows.ntpath.join", os.path.join)
    for name in ("tool.EXE", "npx.CMD"):
        (tmp_path / name).touch()
    return tmp_path


def launch(*argv: str) -> Launch:
    return Launch.of(argv, None, None, True)


@pytest.mark.skipif(sys.platform == "win32", reason="takes POSIX paths for Windows ones")
def test_windows_command(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMSPEC", r"C:\Windows\System32\cmd.exe")
    env = {"PATH": str(installed)}
    assert launch("tool", "a b").windows_command(env) == (str(installed / "tool.EXE"), "a b")
    interpreter, line = launch("npx", "-y", "a & b").windows_command(env)
    assert interpreter == r"C:\Windows\System32\cmd.exe"
    assert isinstance(line, _windows.Verbatim)
    assert str(line).endswith(f'""{installed / "npx.CMD"}" -y "a & b""')
    with pytest.raises(StartFailed, match="PATHEXT"):
        launch("none").windows_command(env)
    with pytest.raises(StartFailed, match="line break"):
        launch("npx", "a\nb").windows_command(env)
