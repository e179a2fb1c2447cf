/** From staging to production by a pull request: what was merged is what the node of production runs. */
import { expect } from 'chai';
import type { ApiClient } from '../../../controller/demo/client.ts';
import type { Promotion, PromotionPreflight } from '../../../schemas/api/delivery/promotions.ts';
import type { Pipeline } from '../../../schemas/api/pipelines/pipelines.ts';
import { Clone } from '../../support/clients/clone.ts';
import { idleManifest, namedPipeline, untilRunning } from '../../support/fixtures/pipelines.ts';
import { type RunningHeadgate, startHeadgate } from '../../support/harness/headgate.ts';
import { until } from '../../support/harness/until.ts';

interface Initiated {
  requestId: string;
  status: string;
  pullRequest: { number: number; url: string };
  updated: boolean;
}

const STAGING = 'environments/staging/pipelines/ticks.yaml';
const PRODUCTION = 'environments/production/pipelines/ticks.yaml';

describe('a promotion', function () {
  this.timeout(120_000);
  let headgate: RunningHeadgate;
  let api: ApiClient;
  let clone: Clone;

  before(async () => {
    headgate = await startHeadgate();
    api = await headgate.api();
    clone = await Clone.of(headgate.cloneUrl);
  });
  after(async () => {
    await clone?.remove();
    await headgate?.remove();
  });

  const deployed = async (requestId: string): Promise<Promotion> => {
    let seen: Promotion | undefined;
    await until(
      async () => {
        seen = await api.query<Promotion>('promotion.get', { requestId });
        return seen.status === 'DEPLOYED';
      },
      {
        what: () => `the promotion to be deployed: ${JSON.stringify(seen)}`,
        everyMs: 100,
        timeoutMs: 30_000,
      },
    );
    return seen as Promotion;
  };
  const initiate = (pipelineId: string) =>
    api.mutate<Initiated>('promotion.initiate', {
      pipelineId,
      targetEnvironmentId: headgate.environments.production,
    });
  /** As a person merges it in a clone, and pushes. */
  async function merge(branch: string): Promise<void> {
    await clone.git('fetch', 'origin');
    await clone.git('merge', '--ff-only', 'origin/main');
    await clone.git('merge', '--no-ff', '--no-edit', `origin/${branch}`);
    await clone.git('push', 'origin', 'main');
  }
  const branchOf = async (number: number) =>
    (
      await api.query<{ number: number; branch: string }[]>('pullRequest.list', {
        environmentId: headgate.environments.production,
      })
    ).find((pull) => pull.number === number)?.branch ?? '';

  it('of a pipeline that was pushed to staging runs in production once its pull request is merged by a push', async () => {
    await clone.push('Ticks in staging', { [STAGING]: idleManifest('ticks', 'first') });
    const { staging, production } = headgate.environments;
    const { id } = await namedPipeline(api, staging, 'ticks');
    await untilRunning(api, id, 1);
    const preflight = await api.query<PromotionPreflight>('promotion.preflight', {
      pipelineId: id,
      targetEnvironmentId: production,
    });
    expect(preflight).to.deep.include({ canProceed: true, outcome: 'AWAITING_PR_MERGE', missingSecrets: [] });
    expect(preflight.sourceHealth.state).to.equal('healthy');
    const asked = await initiate(id);
    expect(asked.status).to.equal('AWAITING_PR_MERGE');
    await merge(await branchOf(asked.pullRequest.number));
    const { targetPipelineId, targetVersion } = await deployed(asked.requestId);
    expect(targetVersion).to.equal(1);
    await untilRunning(api, targetPipelineId ?? '', 1);
    expect(clone.read(PRODUCTION)).to.contain('deployed: true');
  });

  it('of the next version leaves what production has of its own', async () => {
    const own = clone.read(PRODUCTION).replace('deployed: true', 'deployed: true # since Monday');
    await clone.push('Ours', { [PRODUCTION]: own.replace('interval: 1', 'interval: 5') });
    await clone.push('Ticks again', { [STAGING]: idleManifest('ticks', 'second') });
    const { id } = await namedPipeline(api, headgate.environments.staging, 'ticks');
    await untilRunning(api, id, 2);
    const asked = await initiate(id);
    await merge(await branchOf(asked.pullRequest.number));
    const { targetPipelineId } = await deployed(asked.requestId);
    const text = clone.read(PRODUCTION);
    expect(text).to.contain('deployed: true # since Monday').and.contain('interval: 5').and.contain('second');
    expect(await api.query<Pipeline>('pipeline.get', { id: targetPipelineId })).to.include({
      description: 'second',
    });
  });
});
