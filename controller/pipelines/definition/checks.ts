/**
 * Checks a pipeline in levels: each level runs only if the previous one passed. A finding points into the definition by a JSON
 * pointer, so that callers with the text can derive file, line and column.
 */
import { closest, distance } from 'fastest-levenshtein';
import { RESERVED_PREFIX } from '../../../schemas/agent/limits.ts';
import { checkTypes, type NodeEngine, type UsedType } from '../../fleet/engines/index.ts';
import { pointerTo } from '../../platform/yaml/pointer.ts';
import { CERT_DIR, certificateVariable, filenameAfter } from '../../secrets/certificates/index.ts';
import { secretReferences, secretVariable } from '../../secrets/index.ts';
import type { EngineChecks, Program } from '../engine/index.ts';
import { checkGlobal } from './check-global.ts';
import { checkOptions } from './check-options.ts';
import { checkSecretBackends } from './check-secret-backends.ts';
import {
  type Component,
  componentsOf,
  type Definition,
  outputsOf,
  resolveInput,
  SECTIONS,
} from './definition.ts';
import { eachString } from './map-strings.ts';
import { isVrl } from './vrl-options.ts';
import { describeMisplacement, vrlPlaceholders } from './vrl-placeholders.ts';

/** Findings reported per level; the rest follow once these are fixed. */
const MAX_FINDINGS = 50;
/** Component names listed of a cycle. */
const MAX_CYCLE_NAMES = 20;

export const LEVELS = ['structure', 'references', 'secrets', 'options', 'vrl', 'engine'] as const;
export type Level = (typeof LEVELS)[number];

export interface Finding {
  level: Level;
  /** JSON pointer into the definition: `/transforms/parse/source`. */
  pointer: string;
  /** Within the text at the pointer, counted from 1. */
  line?: number;
  column?: number;
  componentKey?: string;
  message: string;
  hint: string;
}

export interface LevelResult {
  level: Level;
  status: 'passed' | 'failed' | 'skipped';
  detail: string;
}

export interface CheckReport {
  findings: Finding[];
  /** Faults that refuse nothing but that the author should see. */
  warnings: Finding[];
  levels: LevelResult[];
  /** Things that the controller's checker does not know: neither an error nor confirmed. */
  unknown: string[];
}

const didYouMean = (word: string, known: readonly string[]): string => {
  const near = known.length > 0 ? closest(word, known as string[]) : '';
  return near !== '' && distance(word, near) <= Math.max(2, word.length / 3) ? `did you mean "${near}"?` : '';
};

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

/** `$$` is a dollar; the engine replaces `${…}` and `$name` from its environment before it parses the file. */
const VARIABLE = /\$(?:\$|\{([A-Za-z0-9_.]+)(:?[-?][^}]{0,1024})?\}|([A-Za-z0-9_.]+))/g;
/** Variables in an engine's environment besides secrets. */
const AMBIENT = new Set(['HOSTNAME', 'TZ', 'LANG']);

/** `secrets` also contains the existing certificate files, as named by `certificateVariable`. */
export function checkVariables(definition: Definition, secrets: ReadonlySet<string>): Finding[] {
  const findings: Finding[] = [];
  eachString(
    {
      sources: definition.sources,
      transforms: definition.transforms,
      sinks: definition.sinks,
      global: definition.global,
    },
    '',
    (text, pointer) => {
      for (const match of findings.length < MAX_FINDINGS ? text.matchAll(VARIABLE) : []) {
        if (findings.length >= MAX_FINDINGS) break;
        const name = match[1] ?? match[3];
        if (name === CERT_DIR) {
          const filename = filenameAfter(text.slice(match.index + match[0].length));
          if (filename !== null && secrets.has(certificateVariable(filename))) continue;
          findings.push({
            level: 'secrets',
            pointer,
            ...positionIn(text, match.index),
            ...componentAt(pointer),
            ...explainCertificate(filename, secrets),
          });
          continue;
        }
        if (name === undefined || AMBIENT.has(name) || (match[2] ?? '').replace(/^:/, '').startsWith('-'))
          continue;
        if (secrets.has(name)) continue;
        findings.push({
          level: 'secrets',
          pointer,
          ...positionIn(text, match.index),
          ...componentAt(pointer),
          ...explainVariable(name, match[0], secrets),
        });
      }
    },
  );
  return findings;
}

function explainVariable(
  name: string,
  written: string,
  secrets: ReadonlySet<string>,
): { message: string; hint: string } {
  if (!name.startsWith('SVC_SECRET_')) {
    return {
      message: `"${written}" would be read as an environment variable when the engine loads the config, and none of that name is set`,
      hint: `write "$${written}" for a literal dollar, or \${SVC_SECRET_…} for a secret`,
    };
  }
  const near = didYouMean(name, [...secrets]);
  const variable = secretVariable(name.slice('SVC_SECRET_'.length));
  if (variable !== name) {
    return {
      message: `no secret name leads to the variable ${name}`,
      hint: `variables of secrets have upper case letters, digits and _ only: write \${${variable}}`,
    };
  }
  return {
    message: `the secret behind \${${name}} does not exist in this environment`,
    hint:
      near ||
      `create a secret whose name becomes ${name} (for example "${name.slice('SVC_SECRET_'.length).toLowerCase()}" gives ${secretVariable(name.slice('SVC_SECRET_'.length).toLowerCase())}); the pipeline is applied as soon as it exists`,
  };
}

function explainCertificate(
  filename: string | null,
  known: ReadonlySet<string>,
): { message: string; hint: string } {
  const reference = `\${${CERT_DIR}}/`;
  if (filename === null) {
    return {
      message: `"\${${CERT_DIR}}" names no certificate file`,
      hint: `write the file name after it, for example "${reference}ca.pem"`,
    };
  }
  const files = [...known].flatMap((path) =>
    path.startsWith(`${CERT_DIR}/`) ? path.slice(CERT_DIR.length + 1) : [],
  );
  return {
    message: `the certificate file "${filename}" does not exist in this environment`,
    hint:
      didYouMean(filename, files) ||
      `upload it with certificate.upload and that file name; the pipeline is applied as soon as it exists`,
  };
}

/** A secret must be a text: it cannot be a key, and in VRL it must be inside a string. */
export function checkSecretPositions(definition: Definition): Finding[] {
  const findings: Finding[] = [];
  const visit = (
    type: string,
    path: readonly string[],
    base: string,
    value: unknown,
    parent?: unknown,
  ): void => {
    if (findings.length >= MAX_FINDINGS) return;
    const pointer = path.reduce(pointerTo, base);
    const add = (finding: { message: string; hint: string }, at?: { line: number; column: number }) =>
      findings.push({ level: 'secrets', pointer, ...at, ...componentAt(pointer), ...finding });
    if (typeof value === 'string') {
      if (!value.includes('SVC_SECRET_') || !isVrl(type, path, parent)) return;
      for (const placeholder of vrlPlaceholders(value)) {
        const finding = describeMisplacement(placeholder);
        if (finding) add(finding, positionIn(value, placeholder.start));
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        if (secretReferences(key).length > 0) {
          add({
            message: `the key "${key.slice(0, 200)}" contains a secret`,
            hint: 'write the key in full, and use secrets in values only',
          });
        }
        visit(type, [...path, key], base, item, value);
      }
    }
  };
  for (const section of SECTIONS) {
    for (const [key, component] of Object.entries(definition[section] as Record<string, { type?: unknown }>))
      visit(String(component.type), [], `/${section}/${key}`, component);
  }
  visit('', [], '/global', definition.global);
  return findings;
}

function positionIn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function componentAt(pointer: string): { componentKey?: string } {
  const [, section, key] = pointer.split('/');
  return section !== 'global' && key !== undefined ? { componentKey: key } : {};
}

interface LocatedProgram extends Program {
  pointer: string;
  componentKey: string;
}

/** Every VRL text of the definition, with its JSON pointer. */
export function programsOf(components: readonly Component[]): LocatedProgram[] {
  return components.flatMap((component) => {
    const at = `/${component.section}/${component.key}`;
    const toProgram = (source: unknown, pointer: string, purpose: Program['purpose']): LocatedProgram[] => {
      if (typeof source === 'string') return [{ source, purpose, pointer, componentKey: component.key }];
      const nested = source as { type?: unknown; source?: unknown } | null | undefined;
      if (nested?.type === 'vrl' && typeof nested.source === 'string') {
        return [
          { source: nested.source, purpose, pointer: `${pointer}/source`, componentKey: component.key },
        ];
      }
      return [];
    };
    const { options } = component;
    switch (component.type) {
      case 'remap':
        return toProgram(options.source, `${at}/source`, 'program');
      case 'filter':
        return toProgram(options.condition, `${at}/condition`, 'condition');
      case 'route':
        return Object.entries((options.route as Record<string, unknown> | undefined) ?? {}).flatMap(
          ([name, condition]) => toProgram(condition, pointerTo(`${at}/route`, name), 'condition'),
        );
      case 'exclusive_route':
        // May have any shape; the engine reports a wrong one.
        return (Array.isArray(options.routes) ? options.routes : []).flatMap(
          (route: { condition?: unknown } | null, index) =>
            toProgram(route?.condition, `${at}/routes/${index}/condition`, 'condition'),
        );
      default:
        return [];
    }
  });
}

export interface CheckOptions {
  secrets: ReadonlySet<string>;
  engine: EngineChecks;
  /** `skip` skips the engine level for this reason. `confirm` returns the config if the engine may be asked about an option. */
  engineLevel: { configYaml: string } | { skip: string; confirm?: () => string | null };
  /** Engines of the environment's nodes; empty if none is known. */
  nodeEngines: readonly NodeEngine[];
  signal?: AbortSignal;
}

const KINDS = { sources: 'SOURCE', transforms: 'TRANSFORM', sinks: 'SINK' } as const;

/** A draft runs nowhere, so the types that nodes lack do not refuse it. */
export async function checkTypesOnNodes(
  { deployed, nodeSelector }: Definition,
  components: readonly Component[],
  { engine, nodeEngines }: Pick<CheckOptions, 'engine' | 'nodeEngines'>,
) {
  const used = components
    .filter(({ disabled }) => !disabled)
    .map(({ section, type, key }): UsedType => ({ kind: KINDS[section], type, componentKey: key }));
  const { rejected, warnings, confirmed } = await checkTypes(
    deployed ? used : [],
    nodeSelector ?? null,
    nodeEngines,
    ({ kind, type }) => engine.knowsType(kind, type),
  );
  const sectionOf = new Map(components.map(({ key, section }) => [key, section]));
  const toFinding = ({ used: { componentKey }, message, hint }: (typeof rejected)[number]): Finding => ({
    level: 'engine',
    pointer: `/${sectionOf.get(componentKey)}/${componentKey}/type`,
    ...{ componentKey, message, hint },
  });
  const findings = rejected.slice(0, MAX_FINDINGS).map(toFinding);
  /** Whether the controller's engine lacks a type that all target nodes have. */
  const isConfirmed = (what: string) =>
    what.startsWith('the component type ') && [...confirmed].some((key) => what.endsWith(` of "${key}"`));
  return { findings, warnings: warnings.map(toFinding), isConfirmed };
}

/**
 * Runs the levels in order and stops at the first that fails, so that a consequence of a fault is not reported as another
 * fault.
 */
export async function checkPipeline(definition: Definition, options: CheckOptions): Promise<CheckReport> {
  const components = componentsOf(definition);
  const levels: LevelResult[] = [];
  const unknown: string[] = [];
  const warnings: Finding[] = [];
  const run: Record<Level, () => Promise<{ findings: Finding[]; detail: string; skipped?: boolean }>> = {
    structure: async () => ({
      findings: [...checkStructure(components, !definition.deployed), ...checkGlobal(definition)],
      detail: `${components.length} components`,
    }),
    references: async () => ({ findings: checkReferences(components), detail: 'inputs and outputs' }),
    secrets: async () => {
      const backends = checkSecretBackends(definition);
      warnings.push(...backends.warnings);
      const findings = [
        ...checkVariables(definition, options.secrets),
        ...checkSecretPositions(definition),
        ...backends.findings,
      ];
      return { findings: findings.slice(0, MAX_FINDINGS), detail: 'secrets and variables' };
    },
    options: async () => {
      const { engineLevel, signal } = options;
      const configFor = () =>
        'configYaml' in engineLevel ? engineLevel.configYaml : (engineLevel.confirm?.() ?? null);
      const result = await checkOptions(definition, components, options.engine, configFor, signal);
      warnings.push(...result.warnings);
      return result;
    },
    vrl: async () => {
      const programs = programsOf(components);
      if (programs.length === 0) return { findings: [], detail: 'no programs' };
      const results = await options.engine.compilePrograms(programs, options.signal);
      const findings = results.flatMap((result, index): Finding[] => {
        const program = programs[index];
        if (!program) return [];
        for (const what of result.unknown) unknown.push(`${what} (unknown to ${options.engine.vrlName})`);
        return result.errors.map((error) => ({
          level: 'vrl',
          pointer: program.pointer,
          componentKey: program.componentKey,
          line: error.line,
          column: error.column,
          message: `VRL in "${program.componentKey}" does not compile: ${error.message}`,
          hint: error.hint,
        }));
      });
      return { findings, detail: `${programs.length} program${programs.length === 1 ? '' : 's'} compiled` };
    },
    engine: async () => {
      const types = await checkTypesOnNodes(definition, components, options);
      warnings.push(...types.warnings);
      if (types.findings.length > 0) return { findings: types.findings, detail: 'engines of the nodes' };
      if ('skip' in options.engineLevel)
        return { findings: [], detail: options.engineLevel.skip, skipped: true };
      const result = await options.engine.validateConfig(options.engineLevel.configYaml, options.signal);
      if (result.status === 'unavailable') return { findings: [], detail: result.detail, skipped: true };
      unknown.push(
        ...result.unknown
          .filter((what) => !types.isConfirmed(what))
          .map((what) => `${what} (unknown to ${result.checker})`),
      );
      const findings = result.errors.map((error): Finding => {
        const component = components.find((candidate) => candidate.key === error.componentKey);
        return {
          level: 'engine',
          pointer: component ? `/${component.section}/${component.key}` : '',
          ...(component ? { componentKey: component.key } : {}),
          message: `${result.checker} refuses the config: ${error.message}`,
          hint: component ? `correct the component "${component.key}"` : 'correct the config',
        };
      });
      return { findings, detail: result.checker };
    },
  };
  for (const level of LEVELS) {
    const { findings, detail, skipped } = await run[level]();
    levels.push({ level, status: findings.length > 0 ? 'failed' : skipped ? 'skipped' : 'passed', detail });
    if (findings.length > 0) return finish(levels, findings, warnings, unknown);
  }
  return { findings: [], warnings: warnings.slice(0, MAX_FINDINGS), levels, unknown };
}

function finish(
  levels: LevelResult[],
  findings: Finding[],
  warnings: Finding[],
  unknown: string[],
): CheckReport {
  const failed = levels.at(-1)?.level ?? 'structure';
  for (const level of LEVELS.slice(levels.length))
    levels.push({ level, status: 'skipped', detail: `${failed} failed` });
  return { findings, warnings: warnings.slice(0, MAX_FINDINGS), levels, unknown };
}
