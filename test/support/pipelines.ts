/** Pipelines as the API tells of them, and manifests to make some. */
import type { ApiClient } from '../../controller/demo/client.ts';
import type { DeploymentStatus, PipelineOnNode, PipelineSummary } from '../../schemas/api/pipelines.ts';
import { until } from './until.ts';

/** Lines of `<folder>/in.log` with a word before each, in `<folder>/out.log`. */
export function tailManifest(folder: string, word: string, name = 'tail', metadata = ''): string {
  return `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: ${name}${metadata} }
spec:
  sources:
    lines: { type: file, include: [${folder}/in.log], read_from: beginning }
  transforms:
    mark: { type: remap, inputs: [lines], source: '.message = "${word} " + string!(.message)' }
  sinks:
    out: { type: file, inputs: [mark], path: ${folder}/out.log, encoding: { codec: text } }
`;
}

/** Needs nothing and does little; `description` makes it another version. */
export function idleManifest(name: string, description = '', metadata = ''): string {
  return `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: ${name}${metadata} }
spec:
  description: "${description}"
  sources:
    ticks: { type: demo_logs, format: json, interval: 1 }
  sinks:
    discard: { type: blackhole, inputs: [ticks] }
`;
}

export async function findPipeline(
  api: ApiClient,
  environmentId: string,
  name: string,
): Promise<PipelineSummary | undefined> {
  const pipelines = await api.query<PipelineSummary[]>('pipeline.list', { environmentId });
  return pipelines.find((pipeline) => pipeline.name === name);
}

export async function namedPipeline(
  api: ApiClient,
  environmentId: string,
  name: string,
): Promise<PipelineSummary> {
  const found = await findPipeline(api, environmentId, name);
  if (!found) throw new Error(`no pipeline is called ${name}`);
  return found;
}

export const onNodes = async (api: ApiClient, pipelineId: string): Promise<PipelineOnNode[]> =>
  (await api.query<DeploymentStatus>('pipeline.deploymentStatus', { pipelineId })).nodes;

/** Waits until the one node of the environment reports the version as running; answers its report. */
export async function untilRunning(
  api: ApiClient,
  pipelineId: string,
  version: number,
): Promise<PipelineOnNode & { pid: number }> {
  let seen: PipelineOnNode | undefined;
  await until(
    async () => {
      seen = (await onNodes(api, pipelineId))[0];
      return seen?.status === 'RUNNING' && seen.version === version && seen.pid !== null;
    },
    {
      what: () => `version ${version} of ${pipelineId} to run: ${JSON.stringify(seen)}`,
      timeoutMs: 15_000,
      everyMs: 20,
    },
  );
  if (!seen || seen.pid === null) throw new Error('unreachable');
  return { ...seen, pid: seen.pid };
}
