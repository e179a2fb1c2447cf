/** When the token of a forge ends, and from when on people are warned. No I/O. */
const DAY_MS = 86_400_000;
const WARN_DAYS = 14;

/** Null where it never ends, or nobody says when. */
export function endOf(text: string | null | undefined): Date | null {
  if (!text || text.length > 64) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : new Date(at);
}

const day = (at: Date): string => at.toISOString().slice(0, 10);

/** Two weeks before it ends; null until then. */
export function endWarning(title: string, end: Date | null, now: number): string | null {
  if (end === null || end.getTime() - now > WARN_DAYS * DAY_MS) return null;
  return `The token for ${title} ends on ${day(end)}: make another one there, and give it as forge.token`;
}

export const expiryText = (end: Date | null): string => (end === null ? '' : ` until ${day(end)}`);
