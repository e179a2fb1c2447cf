/** What the checks say of a graph, and where in it that is. */
import type { ValidationError } from '../../../../../schemas/api/pipelines/validation.ts';
import { type EditorNode, SECTION } from './graph.ts';

export type Problem = ValidationError;

const LEVEL_LABELS: Record<string, string> = {
  structure: 'Structure',
  references: 'References',
  secrets: 'Secrets and variables',
  options: 'Options',
  vrl: 'VRL',
  engine: 'Engine',
};

export const levelWord = (level: string | undefined): string =>
  LEVEL_LABELS[level ?? ''] ?? level ?? 'Config';

/** In the order in which they are checked; each level with its problems. */
export function byLevel(problems: readonly Problem[]): { level: string; problems: Problem[] }[] {
  const levels = new Map<string, Problem[]>();
  for (const problem of problems) {
    const level = problem.level ?? '';
    levels.set(level, [...(levels.get(level) ?? []), problem]);
  }
  return [...levels].map(([level, list]) => ({ level, problems: list }));
}

/** The server speaks of manifests there, and of what they could say instead. */
const MISSING: Record<string, string> = {
  '/sources': 'The pipeline has no source: add one from the catalogue.',
  '/sinks': 'The pipeline has no sink: add one from the catalogue.',
};

export const messageOf = ({ level, path, message }: Problem): string =>
  (level === 'structure' && MISSING[path ?? '']) || message;

export const problemsOf = (problems: readonly Problem[], node: EditorNode): Problem[] =>
  problems.filter(({ componentKey }) => componentKey === node.componentKey);

/**
 * The JSON pointer of the option inside of the component's config: `/source` for `/transforms/parse/source`; empty for
 * the component itself, and for what is no option of it.
 */
export function optionPointer(problem: Problem, node: EditorNode): string {
  const start = `/${SECTION[node.kind]}/${node.componentKey}`;
  const path = problem.path ?? '';
  return path.startsWith(`${start}/`) ? path.slice(start.length) : '';
}

export const pointerOf = (path: readonly (string | number)[]): string =>
  path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
