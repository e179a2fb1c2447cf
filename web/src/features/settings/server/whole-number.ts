/** Null where the text is no whole number within the limits. */
export function wholeNumber(
  text: string,
  { minimum, maximum }: { minimum: number; maximum: number },
): number | null {
  const value = Number(text);
  return /^\d+$/.test(text.trim()) && value >= minimum && value <= maximum ? value : null;
}

export const numberProblem = (text: string, limits: { minimum: number; maximum: number }): string =>
  wholeNumber(text, limits) === null
    ? `A whole number from ${limits.minimum.toLocaleString('en')} to ${limits.maximum.toLocaleString('en')}.`
    : '';
