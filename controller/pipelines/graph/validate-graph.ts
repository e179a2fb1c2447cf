/** Runs the checks on a graph or config text and returns errors with component and position. */
import type { Static } from 'typebox';
import type { RenderedGraph } from '../../../schemas/api/pipelines/graph.ts';
import type { ConfigValidity, ValidationError } from '../../../schemas/api/pipelines/validation.ts';
import { readNodeEngines } from '../../fleet/engines/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { badRequest, type DomainError } from '../../platform/operation/errors.ts';
import {
  certificateReferences,
  certificateVariable,
  configVariables,
} from '../../secrets/certificates/index.ts';
import { secretReferences } from '../../secrets/index.ts';
import { checkPipeline, checkTypesOnNodes } from '../definition/checks/check-pipeline.ts';
import type { CheckReport, Finding } from '../definition/checks/finding.ts';
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

/** Line and column are relative to the text at `path`, such as a VRL program. */
export const validationError = (finding: Finding): ValidationError => ({
  level: finding.level,
  message: finding.hint === '' ? finding.message : `${finding.message}; ${finding.hint}`,
  path: finding.pointer,
  ...(finding.componentKey === undefined ? {} : { componentKey: finding.componentKey }),
  ...(finding.line === undefined ? {} : { line: finding.line }),
  ...(finding.column === undefined ? {} : { column: finding.column }),
});

/** Renders a graph and checks it as for a deploy into the environment. Asks the engine, so it must not run in a transaction. */
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

/** Component types of a graph that nodes of the environment lack; `refused` ones prevent a deploy. Does not run the engine. */
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
  const sentence = ({ message, hint }: Finding) => `${message}; ${hint}`;
  return { refused: findings.map(sentence), warnings: warnings.map(sentence) };
}

/** The error of a deploy of an invalid pipeline; REST answers it as 422. */
export function validationFailed(errors: readonly ValidationError[]): DomainError {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return badRequest(`The pipeline is not deployed: ${first?.message}${more}`, {
    validationErrors: [...errors],
  });
}

/** All secrets and certificates that a text names, as if the environment had them. */
export const variablesNamedIn = (text: string): Set<string> =>
  new Set([
    ...secretReferences(text).map(({ variable }) => variable),
    ...certificateReferences(text).map(certificateVariable),
  ]);

/** Validates an engine config. Line and column are relative to its own text. */
export async function validateConfigText(
  ctx: Context,
  text: string,
  environmentId: string | null,
): Promise<Static<typeof ConfigValidity>> {
  const { definition, faults } = readEngineConfig(text);
  if (!definition) {
    const errors = faults.map((fault) => ({ level: 'structure', ...fault }));
    const detail = 'the text is not an engine config';
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
