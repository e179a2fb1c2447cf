/** The text as Postgres can keep it: at most `limit` characters, without NUL and half surrogate pairs. Null for none. */
export function storableText(text: string, limit: number): string;
export function storableText(text: string | null | undefined, limit: number): string | null;
export function storableText(text: string | null | undefined, limit: number): string | null {
  if (text === null || text === undefined) return null;
  const kept = text.includes('\0') ? text.replaceAll('\0', '') : text;
  return kept.slice(0, limit).toWellFormed();
}
