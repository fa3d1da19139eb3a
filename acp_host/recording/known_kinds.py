"""Which endings of names of files and hosts, and which types of media, are everybody's: they stay when names go.

What only looks like one may be a name: of ``/home/j.smith``, ``.smith`` is no ending.
"""

from __future__ import annotations

import re

__all__ = ["is_known_media_type", "known_ending"]

_ENDINGS_TEXT = """
7z adoc ai app avi avif awk bash bat bin bmp bz2 c cc cfg cjs clj cmake cmd com conf cpp cs css csv cxx dart db dev
diff doc docx edu ejs env eot erl eu ex exe exs fish flac fs gif go gov gradle graphql gz h hcl hpp hs htm html ico
info ini io ipynb j2 jar java jinja jpeg jpg js json json5 jsonc jsonl jsx kt kts less lock log lua m4a make md mdx
mjs mk mkv ml mm mov mp3 mp4 mpeg net nim nix o odt ogg org orig otf out patch pdf php pl plist png ppt pptx
properties proto ps1 py pyc pyi pyx r rb rej rs rst rtf sass scala scss sh so sol sql sqlite svelte svg swift tar tex
tf tgz tif tiff tmp toml tpl ts tsv tsx ttf txt v vb vim vue wasm wav webm webp woff woff2 xls xlsx xml xz yaml yml
zig zip zsh zst
"""
_ENDINGS = frozenset(_ENDINGS_TEXT.split())
_ENDING = re.compile(r"(?<=.)\.([A-Za-z0-9]{1,10})")

_MEDIA_TYPE = re.compile(
    r"(?:text|image|audio|video|font|application|multipart|inode)/(?P<kind>[\w.+-]{1,40})"
    r"(?:;\s?charset=(?P<set>[\w-]+))?",
    re.IGNORECASE | re.ASCII,
)
_MEDIA_TEXT = """
aac avif bmp calendar css csv directory event-stream flac form-data gif gzip html javascript jpeg jpg json jsonl
ld+json markdown mp3 mp4 mpeg msword ndjson octet-stream ogg opus otf patch pdf plain png problem+json rtf sql svg+xml
tiff toml ttf typescript wasm wav wave webm webp woff woff2 x-diff x-directory x-empty x-go x-gzip x-java
x-java-source x-javascript x-markdown x-ndjson x-patch x-python x-ruby x-rust x-rustsrc x-script.python x-sh
x-shellscript x-tar x-toml x-typescript x-wav x-www-form-urlencoded x-yaml xhtml+xml xml yaml zip zstd
"""
_MEDIA = frozenset(_MEDIA_TEXT.split())
_CHARACTER_SETS = frozenset(("utf-8", "utf8", "utf-16", "us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252"))


def known_ending(name: str) -> str:
    """Return the ending of a file name, dot included, if everybody has such files; else an empty text."""
    dot = name.rfind(".")
    found = _ENDING.fullmatch(name, dot) if dot > 0 else None
    return found[0] if found is not None and found[1].lower() in _ENDINGS else ""


def is_known_media_type(text: str) -> bool:
    """Tell whether a text is a type of media that says nothing about anybody."""
    found = _MEDIA_TYPE.fullmatch(text)
    if found is None or found["kind"].lower() not in _MEDIA:
        return False
    return found["set"] is None or found["set"].lower() in _CHARACTER_SETS
