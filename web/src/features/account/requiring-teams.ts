/** Why somebody needs a second factor, by the names of the teams that ask for it. */
export function askedForBy(teams: readonly string[]): string {
  const who =
    teams.length > 0 ? `${names(teams)} ${teams.length === 1 ? 'asks' : 'ask'}` : 'A team of yours asks';
  return `${who} for a second factor: beside your password a code of an app, each time that you sign in.`;
}

/** `a`, `a and b`, `a, b, and c`. */
export const names = (list: readonly string[]): string => new Intl.ListFormat('en').format(list);
