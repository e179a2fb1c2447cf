/** Checks a pipeline in levels: each level runs only if the previous one passed. */
import { checkTypes, type NodeEngine, type UsedType } from '../../../fleet/engines/index.ts';
import type { EngineChecks } from '../../engine/index.ts';
import { type Component, componentsOf, type Definition } from '../definition.ts';
import { checkGlobal } from './check-global.ts';
import { checkReferences, checkStructure } from './check-graph.ts';
import { checkOptions } from './check-options.ts';
import { checkSecretBackends } from './check-secret-backends.ts';
import { checkSecretPositions, checkVariables } from './check-variables.ts';
import {
  type CheckReport,
  type Finding,
  LEVELS,
  type Level,
  type LevelResult,
  MAX_FINDINGS,
} from './finding.ts';
import { programsOf } from './programs.ts';

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
