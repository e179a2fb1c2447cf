/** A problem before it is known which document of which file has it. */
import type { Problem } from './types.ts';

export type Finding = Pick<Problem, 'stage' | 'message' | 'hint' | 'line' | 'column'>;

export function problem(
  path: string,
  finding: Finding,
  kind: string | null = null,
  name: string | null = null,
): Problem {
  return { path, kind, name, ...finding };
}
