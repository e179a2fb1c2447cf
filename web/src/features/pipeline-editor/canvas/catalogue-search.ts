/** The catalogue of components, narrowed by what is typed. */
import type { ComponentKind, Config } from '../model/graph.ts';

export interface Entry {
  kind: ComponentKind;
  type: string;
  title: string;
  description: string;
  shared?: { id: string; version: number; config: Config };
}

export interface Group {
  key: ComponentKind | 'SHARED';
  word: string;
  entries: Entry[];
}

const GROUPS: readonly { key: Group['key']; word: string }[] = [
  { key: 'SHARED', word: 'Shared components' },
  { key: 'SOURCE', word: 'Sources' },
  { key: 'TRANSFORM', word: 'Transforms' },
  { key: 'SINK', word: 'Sinks' },
];

const groupOf = ({ shared, kind }: Entry): Group['key'] => (shared ? 'SHARED' : kind);

/** Every word must occur; types and titles that begin with the first word come first. Empty groups are left out. */
export function searchCatalogue(entries: readonly Entry[], text: string): Group[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = entries.filter(({ type, title, description, kind }) => {
    const whole = `${type} ${title} ${kind} ${description}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
  const [first = ''] = words;
  const rank = ({ type, title }: Entry): number => {
    if (type === first) return 0;
    if (type.startsWith(first) || title.toLowerCase().startsWith(first)) return 1;
    return type.includes(first) ? 2 : 3;
  };
  return GROUPS.flatMap(({ key, word }) => {
    const list = kept.filter((entry) => groupOf(entry) === key).sort((a, b) => rank(a) - rank(b));
    return list.length > 0 ? [{ key, word, entries: list }] : [];
  });
}
