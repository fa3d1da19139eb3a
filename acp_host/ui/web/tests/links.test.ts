import assert from "node:assert/strict";
import { test } from "node:test";
import { readTarget } from "../src/links";

test("only addresses of the web and of mail become links", () => {
  for (const address of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "vbscript:x", "blob:x", "/x", "x"]) {
    assert.equal(readTarget(address), null, address);
  }
  assert.equal(readTarget("https://example.org/a")?.shown, "example.org/a");
  assert.equal(readTarget("http://example.org")?.shown, "http://example.org");
  assert.equal(readTarget("mailto:a@example.org")?.href, "mailto:a@example.org");
});

test("a host is shown as the browser opens it", () => {
  assert.equal(readTarget("https://аpple.com/")?.shown, "xn--pple-43d.com");
});

test("all of the host is shown, and nothing before it", () => {
  assert.deepEqual(readTarget("https://good.org@evil.org/"), { href: "https://evil.org/", shown: "evil.org" });
  assert.equal(readTarget(`https://good.org:${"a".repeat(90)}@evil.org/x`)?.shown, "evil.org/x");
  const host = `good.org.${"a".repeat(60)}.${"b".repeat(60)}.evil.org`;
  assert.equal(readTarget(`https://${host}/${"x".repeat(90)}`)?.shown, `${host}…`);
  assert.equal(readTarget(`https://example.org/${"x".repeat(90)}`)?.shown.length, 80);
});
