/** deploy.preview: what would be shipped, whether it is sound, and what changes. */
import { createTwoFilesPatch } from 'diff';
import type { DeployPreview, GraphNode, ValidationError } from '../../schemas/api/pipelines.ts';
import type { Context } from '../platform/context.ts';
import { secretVariables } from '../secrets/index.ts';
import { checkPipeline } from './checks.ts';
import { compile } from './compile.ts';
import type { Definition } from './definition.ts';
import { findVersion, latestVersion, type PipelineRecord } from './store.ts';

/** `shown` is what of a config the reader may see. */
export async function previewDeploy(
  ctx: Context,
  pipeline: PipelineRecord,
  shown: (configYaml: string) => string,
): Promise<DeployPreview> {
  const definition = definitionOf(pipeline);
  const { configYaml } = compile(definition);
  const [secrets, deployed, latest] = await Promise.all([
    secretVariables(ctx.db, pipeline.environmentId),
    pipeline.deployedVersionId ? findVersion(ctx.db, pipeline.deployedVersionId) : null,
    latestVersion(ctx.db, pipeline.id),
  ]);
  const report = await checkPipeline(definition, {
    secrets,
    engine: ctx.services.engine,
    engineLevel: { configYaml },
    signal: ctx.signal,
  });
  const before = deployed?.configYaml ?? '';
  return {
    configYaml: shown(configYaml),
    deployedYaml: deployed && shown(deployed.configYaml),
    hasChanges: before !== configYaml,
    diff:
      before === configYaml
        ? ''
        : createTwoFilesPatch('deployed', 'new', shown(before), shown(configYaml), '', '', { context: 3 }),
    valid: report.findings.length === 0,
    validationErrors: report.findings.map(
      (finding): ValidationError => ({
        message: `${finding.message}; ${finding.hint}`,
        ...(finding.componentKey === undefined ? {} : { componentKey: finding.componentKey }),
        ...(finding.line === undefined ? {} : { line: finding.line }),
        ...(finding.column === undefined ? {} : { column: finding.column }),
      }),
    ),
    levels: report.levels,
    nextVersion: (latest?.version ?? 0) + 1,
  };
}

/** Back from the stored graph to a definition. */
export function definitionOf(
  pipeline: Pick<PipelineRecord, 'nodes' | 'edges' | 'globalConfig' | 'logLevel' | 'nodeSelector'>,
): Definition {
  const inputs = new Map<string, string[]>();
  const keyOf = new Map(pipeline.nodes.map((node) => [node.id ?? node.componentKey, node.componentKey]));
  for (const edge of pipeline.edges) {
    const source = keyOf.get(edge.sourceNodeId) ?? edge.sourceNodeId;
    const target = keyOf.get(edge.targetNodeId) ?? edge.targetNodeId;
    const list = inputs.get(target) ?? [];
    list.push(edge.sourcePort === undefined ? source : `${source}.${edge.sourcePort}`);
    inputs.set(target, list);
  }
  const section = (kind: GraphNode['kind']) =>
    Object.fromEntries(
      pipeline.nodes
        .filter((node) => node.kind === kind)
        .map((node) => [
          node.componentKey,
          {
            type: node.componentType,
            ...(kind === 'SOURCE' ? {} : { inputs: inputs.get(node.componentKey) ?? [] }),
            ...node.config,
          },
        ]),
    );
  return {
    sources: section('SOURCE') as Definition['sources'],
    transforms: section('TRANSFORM') as Definition['transforms'],
    sinks: section('SINK') as Definition['sinks'],
    global: pipeline.globalConfig,
    components: Object.fromEntries(
      pipeline.nodes.map((node) => [node.componentKey, { disabled: node.disabled }]),
    ),
    logLevel: pipeline.logLevel,
    nodeSelector: pipeline.nodeSelector ?? undefined,
    deployed: true,
    dependsOn: [],
  };
}
