/** Which nodes of a pipeline a canary selector means: the rule by which the server serves them. */
import type { LabelMap } from '../../../../../schemas/api/common.ts';
import { matchesSelector } from '../../../../../schemas/pipelines/selector.ts';
import { plural } from '../../../ui/text/format.ts';

interface Labelled {
  id: string;
  name: string;
  labels: LabelMap;
}

export interface Split<N> {
  canary: N[];
  rest: N[];
}

/** Of the nodes that the pipeline is for. */
export function splitNodes<N extends Labelled>(nodes: readonly N[], selector: LabelMap): Split<N> {
  const matches = (node: N): boolean => matchesSelector(selector, node.labels);
  return { canary: nodes.filter(matches), rest: nodes.filter((node) => !matches(node)) };
}

/** Why no rollout can begin with it, in the words of what to do; empty where it can. */
export function canaryProblem({ canary, rest }: Split<unknown>, selector: LabelMap): string {
  if (canary.length + rest.length < 2)
    return 'A canary needs two nodes at least: one that tries the version, and one to compare it with.';
  if (Object.keys(selector).length === 0) return 'Give the labels of the nodes that try the version first.';
  if (canary.length === 0) return 'No node of this pipeline carries these labels: nothing would be tried.';
  if (rest.length === 0)
    return 'Every node of this pipeline carries these labels: nothing would be left to compare with.';
  return '';
}

const MAX_NAMES = 6;

/** Of a selector that has no problem. */
export function splitText({ canary, rest }: Split<{ name: string }>): string {
  const names = canary.slice(0, MAX_NAMES).map(({ name }) => name);
  const more = canary.length - names.length;
  const first = `${plural(canary.length, 'node')} of ${canary.length + rest.length} ${canary.length === 1 ? 'tries' : 'try'} it first`;
  const others = rest.length === 1 ? '1 node goes on as it is' : `${rest.length} nodes go on as they are`;
  return `${first}: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}. ${others} until then.`;
}

export interface Suggestion {
  key: string;
  value: string;
  count: number;
}

const MAX_SUGGESTIONS = 6;

/** Labels that some of the nodes carry and others do not; those of the fewest nodes first. */
export function suggestLabels(nodes: readonly Labelled[]): Suggestion[] {
  const counts = new Map<string, Suggestion>();
  for (const { labels } of nodes) {
    for (const [key, value] of Object.entries(labels)) {
      const id = JSON.stringify([key, value]);
      const before = counts.get(id)?.count ?? 0;
      counts.set(id, { key, value, count: before + 1 });
    }
  }
  return [...counts.values()]
    .filter(({ count }) => count < nodes.length)
    .sort((a, b) => a.count - b.count || a.key.localeCompare(b.key) || a.value.localeCompare(b.value))
    .slice(0, MAX_SUGGESTIONS);
}

export interface CanaryDraft {
  selector: LabelMap;
  /** Minutes, as typed. */
  window: string;
  onPass: 'broaden' | 'hold';
  onFail: 'rollback' | 'hold';
}

const MAX_WINDOW = 10_080;

export const windowProblem = (window: string): string =>
  /^\d+$/.test(window) && Number(window) >= 1 && Number(window) <= MAX_WINDOW
    ? ''
    : `A whole number of minutes, from 1 to ${MAX_WINDOW.toLocaleString('en')}.`;

/** Text that YAML reads as the same text without quotes. */
const isPlain = (text: string): boolean =>
  /^[A-Za-z_/][A-Za-z0-9_./-]*$/.test(text) && !/^(true|false|yes|no|on|off|null|y|n)$/i.test(text);
const scalar = (text: string): string => (isPlain(text) ? text : JSON.stringify(text));

/** For the spec of a manifest: what the form says, as git says it. */
export function rolloutLines({ selector, window, onPass, onFail }: CanaryDraft): string[] {
  const pairs = Object.entries(selector).map(([key, value]) => `${scalar(key)}: ${scalar(value)}`);
  return [
    'rollout:',
    '  strategy: canary',
    `  canarySelector: { ${pairs.length > 0 ? pairs.join(', ') : 'ring: canary'} }`,
    `  healthCheckWindowMinutes: ${windowProblem(window) === '' ? Number(window) : 10}`,
    ...(onPass === 'hold' ? ['  onPass: hold'] : []),
    ...(onFail === 'hold' ? ['  onFail: hold'] : []),
  ];
}
