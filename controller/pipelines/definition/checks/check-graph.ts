/** Components and the connections between them. */
import { RESERVED_PREFIX } from '../../../../schemas/agent/limits.ts';
import { type Component, componentsOf, type Definition, outputsOf, resolveInput } from '../definition.ts';
import { checkGlobal } from './check-global.ts';
import { didYouMean, type Finding, MAX_FINDINGS } from './finding.ts';

/** Component names listed of a cycle. */
const MAX_CYCLE_NAMES = 20;

/** A draft may lack a source or sink, since it runs nowhere. */
export function checkStructure(components: readonly Component[], draft: boolean): Finding[] {
  const findings: Finding[] = [];
  const add = (component: Component, message: string, hint: string) =>
    findings.push({
      level: 'structure',
      pointer: `/${component.section}/${component.key}`,
      componentKey: component.key,
      message,
      hint,
    });
  const seen = new Map<string, Component>();
  for (const component of components) {
    if (component.key.startsWith(RESERVED_PREFIX)) {
      add(
        component,
        `the component key "${component.key}" begins with ${RESERVED_PREFIX}, which the agent's own components use`,
        'choose another key',
      );
    }
    const other = seen.get(component.key);
    if (other)
      add(
        component,
        `the key "${component.key}" is used in ${other.section} and in ${component.section}`,
        'give each component a key of its own',
      );
    seen.set(component.key, component);
  }
  for (const section of draft ? [] : (['sources', 'sinks'] as const)) {
    if (!components.some((component) => component.section === section && !component.disabled)) {
      findings.push({
        level: 'structure',
        pointer: `/${section}`,
        message: `the pipeline has no ${section === 'sources' ? 'source' : 'sink'}`,
        hint: `add at least one component under spec.${section}, or set spec.deployed: false`,
      });
    }
  }
  return findings;
}

export function checkReferences(components: readonly Component[]): Finding[] {
  const findings: Finding[] = [];
  for (const component of components) {
    if (findings.length >= MAX_FINDINGS) break;
    if (component.section !== 'sources' && component.inputs.length === 0 && !component.disabled) {
      findings.push({
        level: 'references',
        pointer: `/${component.section}/${component.key}`,
        componentKey: component.key,
        message: `"${component.key}" has no input`,
        hint: 'connect a source or a transform to it, or disable it',
      });
    }
    for (const [index, entry] of component.inputs.entries()) {
      if (findings.length >= MAX_FINDINGS) break;
      const pointer = `/${component.section}/${component.key}/inputs/${index}`;
      const base = { level: 'references' as const, pointer, componentKey: component.key };
      const found = resolveInput(entry, components);
      if (found.length === 0) findings.push({ ...base, ...explainMissing(entry, component, components) });
      if (found.some((input) => input.key === component.key) && !/[*?[]/.test(entry)) {
        findings.push({
          ...base,
          message: `"${component.key}" takes its own output as input`,
          hint: 'name another component in inputs',
        });
      }
      if (component.inputs.indexOf(entry) !== index) {
        findings.push({
          ...base,
          message: `"${entry}" is listed twice in the inputs of "${component.key}"`,
          hint: 'remove one of the two',
        });
      }
    }
  }
  if (findings.length === 0) findings.push(...findCycle(components));
  return findings;
}

/** Checks the graph alone: reads no program and asks for no secret. */
export function checkGraph(definition: Definition): Finding[] {
  const components = componentsOf(definition);
  const findings = [...checkStructure(components, !definition.deployed), ...checkGlobal(definition)];
  return findings.length > 0 ? findings : checkReferences(components);
}

/** Explains why an entry of `inputs` matches nothing. */
export function explainMissing(entry: string, component: Component, components: readonly Component[]) {
  const upstream = components.filter((other) => other.section !== 'sinks' && other.key !== component.key);
  const [key = entry, ...rest] = entry.split('.');
  const known = upstream.find((other) => other.key === key);
  if (known && rest.length > 0) {
    const ports = outputsOf(known).named ?? [];
    return {
      message: `input "${entry}" of "${component.key}": ${known.type} "${key}" has no output "${rest.join('.')}"`,
      hint:
        ports.length > 0
          ? `its outputs are ${ports.map((port) => `${key}.${port}`).join(', ')}`
          : `use "${key}"`,
    };
  }
  if (known) {
    const ports = outputsOf(known).named ?? [];
    return {
      message: `input "${entry}" of "${component.key}": ${known.type} "${key}" has only named outputs`,
      hint: `name one: ${ports.map((port) => `${key}.${port}`).join(', ')}`,
    };
  }
  const keys = upstream.map((other) => other.key);
  return {
    message: `input "${entry}" of "${component.key}" matches no component`,
    hint:
      didYouMean(entry, keys) ||
      (keys.length > 0 ? `there are: ${keys.slice(0, 10).join(', ')}` : 'add a source first'),
  };
}

function findCycle(components: readonly Component[]): Finding[] {
  const byKey = new Map(components.map((component) => [component.key, component]));
  const state = new Map<string, 'open' | 'done'>();
  /** Iterative depth-first search: a long chain must not exhaust the stack. */
  for (const start of components) {
    if (state.has(start.key)) continue;
    const path: { key: string; next: string[] }[] = [];
    const enter = (key: string) => {
      state.set(key, 'open');
      const component = byKey.get(key);
      path.push({
        key,
        next: component
          ? component.inputs.flatMap((entry) => resolveInput(entry, components)).map((input) => input.key)
          : [],
      });
    };
    enter(start.key);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.next.pop();
      if (next === undefined) {
        state.set(top.key, 'done');
        path.pop();
      } else if (state.get(next) === 'open') {
        const from = path.findIndex((step) => step.key === next);
        const cycle = [...path.slice(from).map((step) => step.key), next].reverse();
        const names =
          cycle.length <= MAX_CYCLE_NAMES
            ? cycle
            : [
                ...cycle.slice(0, MAX_CYCLE_NAMES - 1),
                `${cycle.length - MAX_CYCLE_NAMES} more`,
                ...cycle.slice(-1),
              ];
        const component = byKey.get(next);
        return [
          {
            level: 'references',
            pointer: `/${component?.section ?? 'transforms'}/${next}/inputs`,
            componentKey: next,
            message: `the components form a cycle: ${names.join(' → ')}`,
            hint: 'take one of these inputs out',
          },
        ];
      } else if (!state.has(next)) {
        enter(next);
      }
    }
  }
  return [];
}
