/** How an amount of money or a number of tokens is written for people. The same rules as `acp_host.amounts`. */

const SMALLEST = 1e-9;
const LARGEST = 1e15;

/**
 * An amount in six digits, or a whole number in all of its digits, with commas and without an exponent: the first words of
 * an agent cost 0.00004. Only what is no price, below 1e-9 or from 1e15 on, has an exponent.
 */
export function amountText(amount: number): string {
  const size = Math.abs(amount);
  if (!Number.isFinite(amount)) return String(amount);
  if (size !== 0 && (size < SMALLEST || size >= LARGEST)) return Number(amount.toPrecision(6)).toExponential();
  const digits = Number.isInteger(amount) ? {} : { maximumSignificantDigits: 6 };
  return amount.toLocaleString("en", digits);
}
