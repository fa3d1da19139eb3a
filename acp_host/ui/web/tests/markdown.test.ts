import assert from "node:assert/strict";
import { test } from "node:test";
import { MarkdownBlocks } from "../src/markdown";

const TEXT = `# Title

A paragraph with *words*,
and its second line.

1. one

2. two
   - nested

\`\`\`python
def f():

    return "<b>"
\`\`\`

> quoted

| a | b |
|---|---|
| 1 | 2 |

The end. https://example.org/x
`;

const html = (text: string) => new MarkdownBlocks().update(text).map((block) => block.html).join("");

test("a message that grows looks as one that came at once, however it is cut", () => {
  for (const size of [1, 3, 7, 50]) {
    const blocks = new MarkdownBlocks();
    let shown: readonly { html: string }[] = [];
    for (let end = 0; end < TEXT.length + size; end += size) shown = blocks.update(TEXT.slice(0, end));
    assert.equal(shown.map((block) => block.html).join(""), html(TEXT), `pieces of ${size}`);
  }
});

test("what is finished is not drawn again", () => {
  const blocks = new MarkdownBlocks();
  const before = blocks.update(TEXT);
  const after = blocks.update(`${TEXT}\nMore.`);
  assert.equal(after[0], before[0]);
  assert.equal(after[2], before[2]);
});

test("HTML stays text, and pictures are links", () => {
  assert.equal(html("<img src=x onerror=alert(1)>").includes("<img"), false);
  assert.match(html("![alt](https://example.org/p.png)"), /^<p>alt <a href="https:\/\/example.org\/p.png"/);
  assert.equal(html("[x](javascript:alert(1))").includes("<a"), false);
});

test("what could hide or reorder text is spelled out, in code too", () => {
  assert.equal(html("a\u202eb\x1b[0m"), "<p>a\\u202eb\\x1b[0m</p>\n");
  assert.match(html("`\x07`\n\n```\n\u2066\n```"), /\\x07[^]*\\u2066/);
});

test("a link shows where it leads", () => {
  assert.match(html("[words](https://example.org/x)"), />words<\/a><span class="link-target"> \(example.org\/x\)<\/span>/);
  assert.match(html("[words](https://example.org/x)"), /rel="noopener noreferrer nofollow"/);
  assert.doesNotMatch(html("https://example.org/x"), /link-target/);
  assert.equal(html("[words]() here"), "<p><span>words</span> here</p>\n");
  assert.match(html("[https://good.org](https://evil.org/)"), /\(evil.org\)/);
  assert.match(html("[https://evil.org/**good.org**](https://evil.org/)"), /\(evil.org\)/);
});

test("a paragraph that would take long to read is text", () => {
  const began = performance.now();
  for (const piece of ["[", "*_", "http://", "![](", "<b>"]) {
    const text = `a &${piece.repeat(200_000 / piece.length)}`;
    assert.equal(html(text), `<p>${text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")}</p>\n`);
  }
  assert.match(html(`\u202e**a** ${"x ".repeat(5_000)}`), /\\u202e\*\*a/);
  assert.ok(performance.now() - began < 2_000);
});
