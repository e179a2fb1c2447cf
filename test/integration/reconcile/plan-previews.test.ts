/** A plan shows what alert rules would have done in the last days, by recorded minutes, and is the same plan without. */
import { expect } from 'chai';
import type { MinuteStore } from '../../../controller/insight/telemetry/index.ts';
import { createPlanner, planMarkdown, planText } from '../../../reconcilers/plan-view/index.ts';
import type { ChangePreview, GitPlan } from '../../../schemas/api/delivery/git-plan.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import type { BoundEnvironment } from '../../support/scenes/bound-environment.ts';
import { localRepositories } from '../../support/scenes/local-repositories.ts';
import { type ReconcileScene, useReconcileScene } from '../../support/scenes/reconcile.ts';
import { recordHistory } from '../../support/scenes/recorded-metrics.ts';

const rule = (name: string, spec: string) => `apiVersion: headgate/v1
kind: AlertRule
metadata: { name: ${name} }
spec: { ${spec} }
`;
const BUSY = 'metric: cpu_usage, condition: gt, threshold: 20';

describe('what alert rules of a plan would have done', () => {
  const scene = useReconcileScene();
  let env: BoundEnvironment;

  before(async () => {
    env = await scene.environment();
    await env.apply({ web: idleManifest('web') });
    const { id: pipelineId } = await env.pipeline('web');
    const nodes = ['a', 'b', 'c'].map((name) => `${env.id}-${name}`);
    await scene.db('nodes').insert(
      nodes.map((id) => ({
        ...{ id, environment_id: env.id, name: id, host: `${id}.example.org`, token_hash: id },
      })),
    );
    await scene
      .db('node_presence')
      .insert(nodes.map((id) => ({ node_id: id, heard_at: new Date(Date.now() - 60_000) })));
    // Hosts are busy by a quarter, with a pause in the middle.
    await recordHistory(
      scene.db,
      nodes.slice(0, 2).map((nodeId) => ({ nodeId, environmentId: env.id, pipelineId, eventsPerSecond: 1 })),
      { minutes: 60, isSilent: (minutesAgo) => minutesAgo > 20 && minutesAgo < 40 },
    );
  });

  async function plan(
    services: Partial<ReconcileScene['services']> = {},
    planner = createPlanner(),
  ): Promise<GitPlan> {
    const repositories = localRepositories(env.repository.gitdir);
    const ctx = scene.context(env.id, { services: { ...scene.services, repositories, ...services } });
    return planner.plan(ctx, await env.binding(), {});
  }
  const previewOf = (found: GitPlan, name: string): ChangePreview | null => {
    const change = found.changes.find((one) => one.name === name);
    if (!change) throw new Error(`no change of ${name}`);
    return change.preview;
  };

  it('is counted by the recorded minutes, and said in a sentence', async () => {
    env.commit({
      hot: rule('hot', BUSY),
      never: rule('never', 'metric: cpu_usage, condition: gt, threshold: 99'),
      'of web': rule('of web', 'pipelineRef: WEB, metric: error_rate, condition: lt, threshold: 1'),
      off: rule('off', `${BUSY}, enabled: false`),
      'of next': rule('of next', 'pipelineRef: next, metric: error_rate, condition: lt, threshold: 1'),
      next: idleManifest('next'),
    });
    const found = await plan();
    expect(previewOf(found, 'hot')).to.deep.equal({
      ...{ metric: 'cpu_usage', series: 2, firings: 4, subjects: 2, firingNow: 2, note: null },
    });
    expect(previewOf(found, 'never')).to.include({ series: 2, firings: 0 });
    expect(previewOf(found, 'of web')).to.include({ metric: 'error_rate', series: 1, subjects: 1 });
    expect(previewOf(found, 'off'), 'it does nothing').to.equal(null);
    expect(previewOf(found, 'of next'), 'its pipeline is new').to.equal(null);
    expect(previewOf(found, 'next')).to.equal(null);
    const sentence = 'would have fired 4 times on 2 of 2 nodes in the last 7 days, now on 2';
    expect(planText(found)).to.include(`      ${sentence}\n`);
    expect(planText(found)).to.include('would not have fired on any of 2 nodes in the last 7 days');
    expect(planMarkdown(found)).to.include(`| create | AlertRule | \`hot\` | ${sentence} |`);
  });

  it('is no part of what is approved, and is left out where the metrics cannot be read', async () => {
    env.commit({ hot: rule('hot', BUSY), busy: rule('busy', BUSY) });
    const found = await plan();
    let asked = 0;
    const broken: MinuteStore = {
      ...scene.services.minutes,
      readBreaches: async () => {
        asked += 1;
        throw new Error('the metrics store is away');
      },
    };
    const without = await plan({ minutes: broken });
    expect(without.hash).to.equal(found.hash);
    expect(without.changes).to.deep.equal(found.changes.map((change) => ({ ...change, preview: null })));
    expect(asked, 'the others would fail too').to.equal(1);
  });

  it('is not waited for without end', async () => {
    env.commit({ hot: rule('hot', BUSY) });
    const silent: MinuteStore = {
      ...scene.services.minutes,
      readBreaches: () => new Promise<never>(() => {}),
    };
    const found = await plan({ minutes: silent }, createPlanner({ previewMs: 50 }));
    expect(previewOf(found, 'hot')).to.equal(null);
  });

  it('is looked for of twenty rules', async () => {
    env.commit(
      Object.fromEntries(
        Array.from({ length: 22 }, (_, index) => [`many-${index}`, rule(`many ${index}`, BUSY)]),
      ),
    );
    const found = await plan();
    expect(found.changes.filter(({ preview }) => preview !== null)).to.have.length(20);
  });
});
