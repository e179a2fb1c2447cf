/** The definition of a pipeline, common to manifests, graphs and engine configs: components by key in three sections. */
import type { PipelineSpec } from '../../../schemas/manifests/index.ts';
import { outputsOf } from '../../../schemas/pipelines/outputs.ts';

export { outputsOf };

export type Definition = Pick<
  PipelineSpec,
  | 'sources'
  | 'transforms'
  | 'sinks'
  | 'global'
  | 'components'
  | 'logLevel'
  | 'drainSeconds'
  | 'nodeSelector'
  | 'deployed'
  | 'dependsOn'
> & { description?: string | undefined };

export const SECTIONS = ['sources', 'transforms', 'sinks'] as const;
export type Section = (typeof SECTIONS)[number];

export interface Component {
  key: string;
  section: Section;
  type: string;
  inputs: readonly string[];
  /** Everything but `type` and `inputs`. */
  options: Record<string, unknown>;
  disabled: boolean;
}

/** All components in written order: sources, transforms, sinks. A key may occur twice; the checks refuse that. */
export function componentsOf(definition: Definition): Component[] {
  return SECTIONS.flatMap((section) =>
    Object.entries(definition[section] as Record<string, Record<string, unknown>>).map(([key, value]) => {
      const { type, inputs, ...options } = value;
      return {
        key,
        section,
        type: String(type),
        inputs: Array.isArray(inputs) ? (inputs as string[]) : [],
        options,
        disabled: definition.components[key]?.disabled ?? false,
      };
    }),
  );
}

export interface Input {
  key: string;
  port: string | null;
}

const WILDCARD = /[*?[\]]/;

/**
 * Resolves an entry of `inputs`. A wildcard expands to the outputs that it matches, so that it never matches components that
 * the agent adds on the node.
 */
export function resolveInput(entry: string, components: readonly Component[]): Input[] {
  if (WILDCARD.test(entry)) {
    const matches = globMatcher(entry);
    return components.flatMap((component) => {
      if (component.section === 'sinks') return [];
      const outputs = outputsOf(component);
      const found: Input[] =
        outputs.plain && matches(component.key) ? [{ key: component.key, port: null }] : [];
      for (const port of outputs.named ?? []) {
        if (matches(`${component.key}.${port}`)) found.push({ key: component.key, port });
      }
      return found;
    });
  }
  const dot = entry.indexOf('.');
  const key = dot < 0 ? entry : entry.slice(0, dot);
  const port = dot < 0 ? null : entry.slice(dot + 1);
  const component = components.find((candidate) => candidate.key === key && candidate.section !== 'sinks');
  if (!component) return [];
  const outputs = outputsOf(component);
  if (port === null) return outputs.plain ? [{ key, port }] : [];
  return outputs.named === null || outputs.named.includes(port) ? [{ key, port }] : [];
}

/** Matches `*` and `?` as shells do. Written by hand: a pattern from outside must not become a regular expression. */
export function globMatcher(pattern: string): (text: string) => boolean {
  return (text) => {
    let p = 0;
    let t = 0;
    let star = -1;
    let mark = 0;
    while (t < text.length) {
      if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t]) && pattern[p] !== '*') {
        p += 1;
        t += 1;
      } else if (pattern[p] === '*') {
        star = p;
        mark = t;
        p += 1;
      } else if (star >= 0) {
        p = star + 1;
        mark += 1;
        t = mark;
      } else {
        return false;
      }
    }
    while (pattern[p] === '*') p += 1;
    return p === pattern.length;
  };
}
