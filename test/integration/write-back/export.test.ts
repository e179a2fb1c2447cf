import { expect } from 'chai';
import type { ExportedManifests } from '../../../schemas/api/delivery/git-words.ts';
import { commit } from '../../support/clients/fast-import.ts';
import { draftPipeline } from '../../support/clients/rest.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { useTestEnvironments } from '../../support/scenes/places.ts';

const FOLDER = 'environments/staging';

describe('an export that is committed and bound', () => {
  const test = useController();
  const places = useTestEnvironments(test);

  /** Ids, names and owners of everything, and the configs that run. */
  async function held() {
    const { environmentId } = places;
    const of = (table: string) =>
      test
        .db(table)
        .where({ environment_id: environmentId, tombstoned_at: null })
        .orderBy('id')
        .select('id', 'name', 'labels');
    const runs = await test
      .db('pipelines as p')
      .join('pipeline_versions as v', 'v.id', 'p.deployed_version_id')
      .where('p.environment_id', environmentId)
      .orderBy('p.id')
      .pluck('v.config_yaml');
    return {
      pipelines: await of('pipelines'),
      rules: await of('alert_rules'),
      groups: await of('node_groups'),
      runs,
    };
  }

  it('hands over the very objects, and changes nothing that runs', async () => {
    const { environmentId, teamId, editor, admin } = places;
    const first = await draftPipeline(editor, environmentId, 'Orders of the day');
    await editor.mutate('pipeline.update', {
      id: first,
      description: 'What: for',
      labels: { team: 'payments' },
      nodeSelector: { role: 'edge' },
    });
    await editor.mutate('deploy.agent', { pipelineId: first, changelog: 'first' });
    const second = await draftPipeline(editor, environmentId, 'returns');
    await editor.mutate('pipelineDependency.add', { upstreamId: first, downstreamId: second });
    await editor.mutate('alert.createRule', {
      environmentId,
      teamId,
      name: 'errors / orders',
      pipelineId: first,
      metric: 'error_rate',
      condition: 'gt',
      threshold: 0.5,
    });
    await admin.mutate('nodeGroup.create', {
      environmentId,
      name: 'edge',
      criteria: { role: 'edge' },
      requiredLabels: ['owner'],
    });
    const before = await held();

    const { files, skipped } = await editor.query<ExportedManifests>('gitSync.export', { environmentId });
    expect(skipped).to.deep.equal([]);
    expect(files.map(({ path }) => path).sort()).to.deep.equal([
      'alerts/errors-orders.yaml',
      'node-groups/edge.yaml',
      'pipelines/Orders-of-the-day.yaml',
      'pipelines/returns.yaml',
    ]);
    expect(files.find(({ path }) => path === 'pipelines/returns.yaml')?.text).to.contain(
      'dependsOn: [ Orders of the day ]',
    );
    for (const { path, text } of files) {
      const kind =
        { alerts: 'alert-rule', 'node-groups': 'node-group' }[path.split('/')[0] ?? ''] ?? 'pipeline';
      expect(text.split('\n')[0]).to.equal(
        `# yaml-language-server: $schema=${test.config.baseUrl}/schemas/v1/${kind}.json`,
      );
    }
    commit(test.controller.gitdir, {
      branch: 'main',
      message: 'export',
      files: Object.fromEntries(files.map(({ path, text }) => [`${FOLDER}/${path}`, text])),
    });
    await admin.mutate('gitSync.configure', { environmentId, mode: 'sync', path: FOLDER });
    type Status = {
      waitingPlan: { hash: string } | null;
      appliedCommit: object | null;
      importErrorCount: number;
    };
    const status = () => editor.query<Status>('gitSync.status', { environmentId });
    await until(async () => (await status()).waitingPlan !== null, {
      what: 'the first plan waits',
      everyMs: 50,
    });
    await admin.mutate('gitSync.approvePlan', { environmentId, hash: (await status()).waitingPlan?.hash });
    await until(
      async () =>
        (await test.db('pipelines').where({ environment_id: environmentId, managed_by: 'git' })).length === 2,
      { what: 'git has taken them over', everyMs: 50 },
    );
    expect((await status()).importErrorCount).to.equal(0);
    expect(await held()).to.deep.equal(before);
    // What git describes now exports to the same files.
    const again = await editor.query<ExportedManifests>('gitSync.export', { environmentId });
    expect(again).to.deep.equal({ files, skipped: [] });
  }).timeout(60_000);
});
