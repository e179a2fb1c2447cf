import {
  checkPipeline,
  compile,
  convergePipelines,
  type Definition,
  type Finding,
  prunePipeline,
  runTests,
} from '../../controller/pipelines/index.ts';
import type { TestResult } from '../../schemas/api/delivery/git-plan.ts';
import type { DesiredManifest, Problem } from '../source/index.ts';
import { type CheckContext, type CheckServices, type Kind, toCommit, toItem } from './kind.ts';

type PipelineManifest = DesiredManifest<'Pipeline'>;

const STAGE = {
  structure: 'graph',
  references: 'graph',
  secrets: 'secrets',
  options: 'options',
  vrl: 'vrl',
  engine: 'engine',
} as const;

function toProblem(manifest: PipelineManifest, finding: Finding): Problem {
  const position =
    finding.line === undefined
      ? manifest.at(finding.pointer)
      : manifest.inFile(finding.pointer, finding.line, finding.column ?? 1);
  return {
    kind: manifest.kind,
    name: manifest.name,
    stage: STAGE[finding.level],
    ...position,
    message: finding.message,
    hint: finding.hint,
  };
}

/** In one line, for reports and conditions. */
function toNote(manifest: PipelineManifest, finding: Finding): string {
  const { line, column } = toProblem(manifest, finding);
  const hint = finding.hint === '' ? '' : `; ${finding.hint}`;
  return `${manifest.path}:${line}:${column}: ${finding.message}${hint}`;
}

/** Runs only where nothing else is wrong, so that one fault is not reported twice. */
async function testsOf(
  ctx: CheckServices,
  manifest: PipelineManifest,
  check: CheckContext,
): Promise<TestResult[]> {
  const { tests } = manifest.spec;
  if (tests.length === 0) return [];
  const results = await runTests(
    { ...(manifest.spec as Definition), tests },
    { engine: ctx.services.engine, useEngine: check.engine, signal: check.signal },
  );
  return results.map((result, index) => ({ ...result, line: manifest.at(`/tests/${index}`).line }));
}

function toFailure(
  manifest: PipelineManifest,
  index: number,
  { name, component, message }: TestResult,
): Problem {
  return {
    kind: manifest.kind,
    name: manifest.name,
    stage: 'tests',
    ...manifest.at(`/tests/${index}`),
    message: `the test "${name}" of "${component}" failed: ${message}`,
    hint: `correct "${component}", or the test`,
  };
}

export const pipelineKind: Kind = {
  kind: 'Pipeline',
  table: 'pipelines',
  order: 20,
  references: (manifest) =>
    (manifest as PipelineManifest).spec.dependsOn.map((name, index) => ({
      kind: 'Pipeline',
      name,
      field: 'dependsOn',
      pointer: `/dependsOn/${index}`,
      blocks: true,
    })),
  suspended: (manifest) => (manifest as PipelineManifest).spec.suspend,
  deployed: (manifest) => (manifest as PipelineManifest).spec.deployed,
  editorData: (manifest) => (manifest as PipelineManifest).spec.components,

  async check(ctx, manifest, check) {
    const pipeline = manifest as PipelineManifest;
    const definition = pipeline.spec as Definition;
    const report = await checkPipeline(definition, {
      secrets: check.secrets,
      engine: ctx.services.engine,
      engineLevel: check.engine
        ? { configYaml: compile(definition).configYaml }
        : {
            skip: 'too many manifests changed at once to ask the engine about each',
            confirm: () => (check.confirm?.() ? compile(definition).configYaml : null),
          },
      nodeEngines: check.nodeEngines,
      signal: check.signal,
    });
    const tests = report.findings.length > 0 ? [] : await testsOf(ctx, pipeline, check);
    const ran = report.levels
      .filter((level) => level.status === 'passed')
      .map((level) => (level.level === 'engine' ? level.detail : level.level));
    const skipped = report.levels
      .filter((level) => level.status === 'skipped')
      .map((level) => `${level.level} skipped: ${level.detail}`);
    return {
      problems: [
        ...report.findings.map((finding) => toProblem(pipeline, finding)),
        ...tests.flatMap((test, index) =>
          test.status === 'failed' ? [toFailure(pipeline, index, test)] : [],
        ),
      ].slice(0, 20),
      detail: [`checked: ${ran.join(', ')}`, ...skipped].join('; '),
      notes: report.warnings.map((finding) => toNote(pipeline, finding)),
      unknown: report.unknown,
      tests,
    };
  },

  async apply({ ctx, execute, environmentId, items, commit }) {
    const done = await execute(convergePipelines, ctx, {
      environmentId,
      commit: toCommit(commit),
      items: items.map(toItem),
    });
    return done.map((result, index) => {
      const { deployed } = (items[index]!.manifest as PipelineManifest).spec;
      const more = !deployed ? ', a draft' : result.canary ? ', for canary nodes first' : '';
      return { ...result, detail: `version ${result.version}${more}` };
    });
  },

  async prune({ ctx, execute, environmentId, objectId }) {
    await execute(prunePipeline, ctx, { environmentId, objectId });
  },
};
