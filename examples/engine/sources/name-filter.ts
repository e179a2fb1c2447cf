import { matchesGlob } from 'node:path';

export type NameFilter = (name: string) => boolean;

/** Names that match one of `includes` and none of `excludes`; patterns are globs, `*` alone matches all. */
export function nameFilter(includes: readonly string[], excludes: readonly string[]): NameFilter {
  const matches = (name: string, pattern: string) => pattern === '*' || matchesGlob(name, pattern);
  return (name) =>
    includes.some((pattern) => matches(name, pattern)) && !excludes.some((pattern) => matches(name, pattern));
}
