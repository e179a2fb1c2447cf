import { closest, distance } from 'fastest-levenshtein';
import {
  checkPipeline,
  compile,
  convergePipeline,
  type Definition,
  type Finding,
  prunePipeline,
} from '../../controller/pipelines/index.ts';
import type { DesiredManifest, Problem } from '../source/index.ts';
import type { CheckContext, Kind } from './kind.ts';

type PipelineManifest = DesiredManifest<'Pipeline'>;

const STAGE = {
  structure: 'graph',
  references: 'graph',
  secrets: 'secrets',
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

function checkDependencies(manifest: PipelineManifest, check: CheckContext): Problem[] {
  const known = check.names.get('Pipeline') ?? new Map<string, string>();
  return manifest.spec.dependsOn.flatMap((name, index): Problem[] => {
    const key = name.normalize('NFC').toLowerCase();
    if (known.has(key) && key !== manifest.nameKey) return [];
    const names = [...known.values()].filter((other) => other !== manifest.name);
    const near = names.length > 0 ? closest(name, names) : '';
    return [
      {
        kind: manifest.kind,
        name: manifest.name,
        stage: 'references',
        ...manifest.at(`/dependsOn/${index}`),
        message:
          key === manifest.nameKey
            ? `"${name}" depends on itself`
            : `dependsOn names "${name}", and no manifest here is called so`,
        hint:
          near && distance(near, name) <= 3
            ? `did you mean "${near}"?`
            : 'name a pipeline of the same environment, or take the entry out',
      },
    ];
  });
}

const NO_ROLLOUT = 'spec.rollout is not acted on by this version: every node gets the new version at once';

export const pipelineKind: Kind = {
  kind: 'Pipeline',
  order: 20,
  dependsOn: (manifest) => (manifest as PipelineManifest).spec.dependsOn,
  suspended: (manifest) => (manifest as PipelineManifest).spec.suspend,
  deployed: (manifest) => (manifest as PipelineManifest).spec.deployed,

  async check(ctx, manifest, check) {
    const pipeline = manifest as PipelineManifest;
    const problems = checkDependencies(pipeline, check);
    if (problems.length > 0) return { problems, detail: 'references', notes: [], unknown: [] };
    const definition = pipeline.spec as Definition;
    const report = await checkPipeline(definition, {
      secrets: check.secrets,
      engine: ctx.services.engine,
      engineLevel: check.engine
        ? { configYaml: compile(definition).configYaml }
        : { skip: 'too many manifests changed at once to ask the engine about each' },
      signal: check.signal,
    });
    const ran = report.levels
      .filter((level) => level.status === 'passed')
      .map((level) => (level.level === 'engine' ? level.detail : level.level));
    const skipped = report.levels
      .filter((level) => level.status === 'skipped')
      .map((level) => `${level.level} skipped: ${level.detail}`);
    return {
      problems: report.findings.slice(0, 20).map((finding) => toProblem(pipeline, finding)),
      detail: [`checked: ${ran.join(', ')}`, ...skipped].join('; '),
      notes: pipeline.spec.rollout ? [NO_ROLLOUT] : [],
      unknown: report.unknown,
    };
  },

  async apply({ ctx, execute, environmentId, manifest, objectId, commit }) {
    const pipeline = manifest as PipelineManifest;
    const result = await execute(convergePipeline, ctx, {
      environmentId,
      pipelineId: objectId,
      name: pipeline.name,
      uid: pipeline.uid,
      labels: pipeline.labels,
      spec: pipeline.spec,
      specHash: pipeline.hash,
      commit: { sha: commit.sha, author: commit.author, subject: commit.subject, message: commit.message },
      path: pipeline.path,
    });
    return {
      objectId: result.pipelineId,
      outcome: result.outcome,
      version: result.version,
      detail: result.deployed ? `version ${result.version}` : `version ${result.version}, a draft`,
    };
  },

  async prune({ ctx, execute, environmentId, objectId }) {
    await execute(prunePipeline, ctx, { environmentId, pipelineId: objectId });
  },
};
