/** What people are told of a definition: the checks in levels, as errors with component and position. */
import type { Static } from 'typebox';
import type { ConfigValidity, RenderedGraph, ValidationError } from '../../../schemas/api/pipelines.ts';
import { readNodeEngines } from '../../fleet/engines/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { badRequest, type DomainError } from '../../platform/operation/errors.ts';
import {
  certificateReferences,
  certificateVariable,
  configVariables,
} from '../../secrets/certificates/index.ts';
import { secretReferences } from '../../secrets/index.ts';
import { type CheckReport, checkPipeline, checkTypesOnNodes, type Finding } from '../definition/checks.ts';
import { compile } from '../definition/compile.ts';
import { componentsOf } from '../definition/definition.ts';
import { positionInConfig, readEngineConfig } from './engine-yaml.ts';
import { type DefinitionSettings, definitionOf, type Graph } from './graph.ts';

export interface Validity {
  configYaml: string;
  errors: ValidationError[];
  warnings: ValidationError[];
  levels: Static<typeof RenderedGraph>['levels'];
  unknown: string[];
}

/** Line and column count inside the text at `path`, such as a VRL program. */
export const validationError = (finding: Finding): ValidationError => ({
  level: finding.level,
  message: finding.hint === '' ? finding.message : `${finding.message}; ${finding.hint}`,
  path: finding.pointer,
  ...(finding.componentKey === undefined ? {} : { componentKey: finding.componentKey }),
  ...(finding.line === undefined ? {} : { line: finding.line }),
  ...(finding.column === undefined ? {} : { column: finding.column }),
});

/** Renders a graph and checks it as it would be deployed into the environment. Asks the engine: not for a transaction. */
export async function validateGraph(
  ctx: Context,
  environmentId: string,
  graph: Graph & DefinitionSettings,
): Promise<Validity> {
  const definition = definitionOf(graph);
  const { configYaml } = compile(definition);
  const report: CheckReport = await checkPipeline(definition, {
    secrets: await configVariables(ctx.db, environmentId),
    engine: ctx.services.engine,
    engineLevel: { configYaml },
    nodeEngines: await readNodeEngines(ctx.db, environmentId, ctx.clock.now()),
    signal: ctx.signal,
  });
  return {
    configYaml,
    errors: report.findings.map(validationError),
    warnings: report.warnings.map(validationError),
    levels: report.levels,
    unknown: report.unknown,
  };
}

/** What nodes of the environment lack for a graph: `refused` keeps it from being deployed. Asks no engine to validate. */
export async function checkNodeTypes(
  ctx: Context,
  environmentId: string,
  graph: Graph & DefinitionSettings,
): Promise<{ refused: string[]; warnings: string[] }> {
  const definition = definitionOf(graph);
  const { findings, warnings } = await checkTypesOnNodes(definition, componentsOf(definition), {
    engine: ctx.services.engine,
    nodeEngines: await readNodeEngines(ctx.db, environmentId, ctx.clock.now()),
  });
  const words = ({ message, hint }: Finding) => `${message}; ${hint}`;
  return { refused: findings.map(words), warnings: warnings.map(words) };
}

/** What a deploy of a faulty pipeline answers; REST makes 422 of it. */
export function invalid(errors: readonly ValidationError[]): DomainError {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return badRequest(`The pipeline is not deployed: ${first?.message}${more}`, {
    validationErrors: [...errors],
  });
}

/** Every secret and certificate that it names, as if the environment had them. */
const variablesNamedIn = (text: string): Set<string> =>
  new Set([
    ...secretReferences(text).map(({ variable }) => variable),
    ...certificateReferences(text).map(certificateVariable),
  ]);

/** An engine config by itself. Line and column count in its own text. */
export async function validateConfigText(
  ctx: Context,
  text: string,
  environmentId: string | null,
): Promise<Static<typeof ConfigValidity>> {
  const { definition, faults } = readEngineConfig(text);
  if (!definition) {
    const errors = faults.map((fault) => ({ level: 'structure', ...fault }));
    const detail = 'the text is no engine config';
    return {
      valid: false,
      errors,
      warnings: [],
      levels: [{ level: 'structure', status: 'failed', detail }],
      unknown: [],
    };
  }
  const report = await checkPipeline(definition, {
    secrets: environmentId === null ? variablesNamedIn(text) : await configVariables(ctx.db, environmentId),
    engine: ctx.services.engine,
    engineLevel: { configYaml: compile(definition).configYaml },
    nodeEngines: environmentId === null ? [] : await readNodeEngines(ctx.db, environmentId, ctx.clock.now()),
    signal: ctx.signal,
  });
  const source = { text };
  const placed = (finding: Finding) => ({
    ...validationError(finding),
    ...positionInConfig(source, finding),
  });
  const errors = report.findings.map(placed);
  const warnings = report.warnings.map(placed);
  return { valid: errors.length === 0, errors, warnings, levels: report.levels, unknown: report.unknown };
}
