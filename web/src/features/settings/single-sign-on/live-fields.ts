import type { Static } from 'typebox';
import type { MembershipsFollowed } from '../../../../../schemas/api/settings.ts';
import { plural } from '../../../ui/text/format.ts';

/** What a save has done to people: `3 memberships were added, 1 was removed.` */
export function followedText({
  added,
  changed,
  removed,
}: Omit<Static<typeof MembershipsFollowed>, 'warnings'>): string {
  const parts = [
    [added, 'added'],
    [changed, 'changed'],
    [removed, 'removed'],
  ] as const;
  const texts = parts
    .filter(([count]) => count > 0)
    .map(([count, word], place) =>
      place === 0
        ? `${plural(count, 'membership was', 'memberships were')} ${word}`
        : `${count.toLocaleString('en')} ${count === 1 ? 'was' : 'were'} ${word}`,
    );
  return texts.length === 0 ? 'No membership changes.' : `${texts.join(', ')}.`;
}
