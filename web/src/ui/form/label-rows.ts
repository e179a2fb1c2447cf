/** As they are typed: a key may be empty or stand twice until the form is sent. */
export type LabelRow = readonly [key: string, value: string];

export const rowsOf = (labels: Readonly<Record<string, string>> | null): LabelRow[] =>
  Object.entries(labels ?? {}).sort(([a], [b]) => a.localeCompare(b));

/** Rows without a key are left out; of two with one key the later counts. */
export const labelsOf = (rows: readonly LabelRow[]): Record<string, string> =>
  Object.fromEntries(rows.map(([key, value]) => [key.trim(), value.trim()] as const).filter(([key]) => key));

/** What is wrong with them, in words; empty where all is well. */
export function problemOfRows(rows: readonly LabelRow[]): string {
  const keys = rows.map(([key]) => key.trim()).filter(Boolean);
  const twice = keys.find((key, place) => keys.indexOf(key) !== place);
  if (twice) return `${twice} stands twice: take one away.`;
  const wrong = keys.find((key) => /[=,]/.test(key));
  return wrong ? `“${wrong}” holds a comma or an equals sign, which no key may.` : '';
}
