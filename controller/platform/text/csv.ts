/** Comma-separated values (RFC 4180). */

export type CsvCell = string | number | null;

/** One line with its end, CR LF. */
export const csvRow = (cells: readonly CsvCell[]): string => `${cells.map(cellText).join(',')}\r\n`;

function cellText(value: CsvCell): string {
  if (value === null) return '';
  return typeof value === 'number' ? String(value) : quoted(value);
}

/** What a spreadsheet would take for a formula begins with an apostrophe (OWASP, CSV injection). */
function quoted(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
