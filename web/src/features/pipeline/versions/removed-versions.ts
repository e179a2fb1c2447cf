import { plural } from '../../../ui/text/format.ts';

/** What one answer holds at most. */
const MOST_LISTED = 500;

/** What is not in the list any more: versions are numbered without a gap. Null where all are there. */
export function removedText(versions: readonly { version: number }[]): string | null {
  const newest = Math.max(0, ...versions.map(({ version }) => version));
  const oldest = Math.min(newest, ...versions.map(({ version }) => version));
  const isCut = versions.length >= MOST_LISTED;
  const missing = newest - (isCut ? oldest - 1 : 0) - versions.length;
  const parts = [
    isCut && oldest > 1 ? `The newest ${MOST_LISTED} versions are listed.` : '',
    missing > 0
      ? `${plural(missing, 'older version')} ${missing === 1 ? 'was' : 'were'} removed: a pipeline keeps its newest versions, and those that run, are promoted, held, or were deployed in the last 90 days.`
      : '',
  ];
  return parts.some(Boolean) ? parts.filter(Boolean).join(' ') : null;
}
