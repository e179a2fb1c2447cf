import { badRequest } from '../platform/errors.ts';

/** A folder of a repository: relative, without `..`, without slashes at its ends. `''` is the root. */
export function normalizeFolder(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (path.startsWith('/') || parts.includes('..') || parts.includes('.git') || /[\0\\]/.test(path)) {
    throw badRequest(
      `"${path.slice(0, 200)}" is not a folder inside a repository; write it relative to the root, without ..`,
    );
  }
  return parts.join('/');
}

/** The rules of git-check-ref-format(1) that matter for a branch or tag name. */
export function refuseBadRef(ref: string): string {
  const bad = /^[-/.]|\.\.|[\s~^:?*[\\\0-\x1f\x7f]|\/\/|@\{|\.lock($|\/)|[./]$/.test(ref);
  if (bad) throw badRequest(`"${ref.slice(0, 100)}" is not a branch name`);
  return ref;
}
