import { badRequest } from '../../platform/operation/errors.ts';

/** Control characters, invisible ones, and those that change the direction of text. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

/** A folder of a repository: relative, without `..`, without slashes at its ends. `''` is the root. */
export function normalizeFolder(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const leaves = path.startsWith('/') || parts.some((part) => part === '..' || /^\.git$/i.test(part));
  if (leaves || path.includes('\\') || INVISIBLE.test(path)) {
    throw badRequest(
      `"${path.slice(0, 200)}" is not a folder inside a repository; write it relative to the root, without ..`,
    );
  }
  return parts.join('/');
}

/** The short name of a branch, as it is stored and compared everywhere. */
export const branchName = (ref: string): string =>
  assertRefName(assertRefName(ref).replace(/^refs\/heads\//, ''));

/** The rules of git-check-ref-format(1) that matter for a branch or tag name. */
export function assertRefName(ref: string): string {
  const bad = /^[-/.]|^@$|\.\.|[\s~^:?*[\\]|\/[/.]|@\{|\.lock($|\/)|[./]$/.test(ref) || INVISIBLE.test(ref);
  if (bad) throw badRequest(`"${ref.slice(0, 100)}" is not a branch name`);
  return ref;
}
