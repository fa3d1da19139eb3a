import assert from "node:assert/strict";
import { test } from "node:test";
import { amountText } from "../src/amounts";

test("an amount has its digits and no exponent", () => {
  const written: [number, string][] = [
    [0, "0"],
    [0.00001, "0.00001"],
    [0.000000123, "0.000000123"],
    [1e-9, "0.000000001"],
    [0.1 + 0.2, "0.3"],
    [6.0, "6"],
    [-0.5, "-0.5"],
    [1234.5, "1,234.5"],
    [1234567, "1,234,567"],
    [1234567.89, "1,234,570"],
    [999_999_999_999_999, "999,999,999,999,999"],
  ];
  for (const [amount, text] of written) assert.equal(amountText(amount), text);
});

test("what is no price is written short", () => {
  const written: [number, string][] = [
    [1e15, "1e+15"],
    [1e300, "1e+300"],
    [-1.23456789e-300, "-1.23457e-300"],
    [Number("1e400"), "Infinity"],
  ];
  for (const [amount, text] of written) assert.equal(amountText(amount), text);
});
