/** `POST …/deploy?wait=60`: the answer waits until the version runs, fails, or the time is over. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pipelineDeployments } from '../../controller/pipelines/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';
import type { Deployment } from '../../schemas/api/pipelines/deployments.ts';
import type { RestRequest } from './row.ts';

const LOOK_MS = 500;
/** In this process; who comes beyond is answered at once, and follows by `GET /deployments/{id}`. */
const MAX_WAITING = 100;
let waiting = 0;

export async function afterDeploy<T extends { versionId: string }>(
  answer: T,
  { ctx, query }: RestRequest<{ wait?: number }>,
  execute: Execute,
): Promise<T & { deployment?: Deployment }> {
  if (query.wait === undefined) return answer;
  const until = ctx.clock.monotonic() + query.wait * 1_000;
  // Its own deployment is shown to a key that may deploy and not read.
  const reader: Context = { ...ctx, actor: { type: 'system', name: 'deploy' } };
  const look = () => execute(pipelineDeployments.deployment, reader, { versionId: answer.versionId });
  const first = await look();
  if (waiting >= MAX_WAITING) return { ...answer, deployment: first };
  waiting += 1;
  try {
    let deployment = first;
    while (deployment.state === 'IN_PROGRESS' && ctx.clock.monotonic() < until && !ctx.signal.aborted) {
      await sleep(LOOK_MS, undefined, { signal: ctx.signal, ref: false }).catch(() => {});
      deployment = await look();
    }
    return { ...answer, deployment };
  } finally {
    waiting -= 1;
  }
}
