/** Explains to the user who pushed that no environment follows any of the refs. */
import type { PushedRef } from '../../../controller/delivery/repository/index.ts';

const MAX_NAMED = 3;

export const shortName = (ref: string): string => ref.replace(/^refs\/(?:heads|tags)\//, '');

/**
 * A sentence for branches, one for tags, and one each for deleted branches and tags. `followed`: the refs that environments
 * follow, without prefix.
 */
export function describeUnfollowed(refs: readonly PushedRef[], followed: readonly string[]): string[] {
  const select = (prefix: string, deleted: boolean) =>
    refs
      .filter((ref) => ref.name.startsWith(prefix) && ref.deleted === deleted)
      .map(({ name }) => shortName(name));
  const lines: string[] = [];
  const branches = select('refs/heads/', false);
  if (branches.length > 0) {
    const others = [...new Set(followed)];
    lines.push(
      `no environment follows ${list(branches)}, nothing is deployed from ${it(branches)}; ${list(others)} ${are(others)} followed: open a pull request`,
    );
  }
  const tags = select('refs/tags/', false);
  if (tags.length > 0)
    lines.push(
      `the ${noun('tag', tags)} ${list(tags)} ${are(tags)} stored; no environment follows ${it(tags)}, so nothing is deployed. To deploy a tag, bind an environment to it`,
    );
  const gone = { branch: select('refs/heads/', true), tag: select('refs/tags/', true) };
  for (const [kind, names] of Object.entries(gone))
    if (names.length > 0)
      lines.push(
        `the ${noun(kind, names)} ${list(names)} ${are(names)} deleted; no environment followed ${it(names)}, so nothing changes`,
      );
  if (lines.length === 0)
    lines.push(`${list(refs.map(({ name }) => name))}: environments follow branches and tags only`);
  return lines;
}

const list = (names: readonly string[]): string =>
  names.slice(0, MAX_NAMED).join(', ') + (names.length > MAX_NAMED ? ' …' : '');
const noun = (one: string, of: readonly string[]): string =>
  of.length === 1 ? one : one === 'branch' ? 'branches' : `${one}s`;
const are = (of: readonly string[]): string => (of.length === 1 ? 'is' : 'are');
const it = (of: readonly string[]): string => (of.length === 1 ? 'it' : 'them');
