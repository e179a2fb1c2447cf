import type { Problem } from './types.ts';

/** `path:line:column`, as far as it is known. */
export function problemLocation({ path, line, column }: Pick<Problem, 'path' | 'line' | 'column'>): string {
  if (line === undefined) return path;
  return `${path}:${line}${column === undefined ? '' : `:${column}`}`;
}
