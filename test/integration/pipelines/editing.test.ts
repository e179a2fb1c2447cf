/** Making, changing, copying, deleting and bringing back pipelines, and what git keeps for itself. */
import { expect } from 'chai';
import type { Pipeline, PipelineRef, PipelineSummary } from '../../../schemas/api/pipelines/pipelines.ts';
import type { VersionSummary } from '../../../schemas/api/pipelines/versions.ts';
import { component, drawPipeline, edge, soundGraph } from '../../support/fixtures/graphs.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { testEnvironment, useTwoTeams } from '../../support/scenes/two-teams.ts';
import { expectRefused } from '../../support/users/person.ts';

describe('pipelines that people make', () => {
  const test = useController();
  const root = useRoot(test);
  let environmentId: string;
  let teamId: string;

  before(async () => {
    ({ environmentId, teamId } = await testEnvironment(root));
  });

  const create = (name: string) =>
    root.call<PipelineRef>('mutation', 'pipeline.create', { environmentId, name });
  const get = (id: string) => root.query<Pipeline>('pipeline.get', { id });
  const list = () => root.query<PipelineSummary[]>('pipeline.list', { environmentId });

  it('are drafts at first, and their names are unique whatever the case', async () => {
    const { output } = await create('Orders');
    expect(output).to.include({ name: 'Orders', isDraft: true });
    expect(await get(output?.id ?? '')).to.include({ managedBy: 'ui', graphRevision: 1 });
    const again = await create('oRDERS');
    expect(again.status).to.equal(409);
    expect(again.fault?.message).to.equal(
      'A pipeline named "oRDERS" exists already in this environment; choose another name',
    );
  });

  it('keep what an update does not name, and lose a description that it sets to null', async () => {
    const { id } = (await create('to update')).output as PipelineRef;
    await root.mutate('pipeline.update', { id, description: 'what for', labels: { team: 'a' } });
    await root.mutate('pipeline.update', { id, name: 'updated', nodeSelector: { role: 'edge' } });
    expect(await get(id)).to.deep.include({
      name: 'updated',
      description: 'what for',
      labels: { team: 'a' },
      nodeSelector: { role: 'edge' },
    });
    await root.mutate('pipeline.update', { id, description: null, nodeSelector: null });
    expect(await get(id)).to.deep.include({ name: 'updated', description: null, nodeSelector: null });
    const { status } = await root.call('mutation', 'pipeline.update', { id, name: 'orders' });
    expect(status).to.equal(409);
  });

  it('are copied with their graph, under a name that is free', async () => {
    const { id } = await drawPipeline(root, environmentId, soundGraph(), 'original');
    const names: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const copy = await root.mutate<PipelineRef>('pipeline.clone', { pipelineId: id });
      names.push(copy.name);
      const [of, made] = [await get(id), await get(copy.id)];
      expect(made.nodes.map(({ id: _, ...node }) => node)).to.deep.equal(
        of.nodes.map(({ id: _, ...node }) => node),
      );
      expect(made.nodes[0]?.id).not.to.equal(of.nodes[0]?.id);
      expect(made.edges).to.have.length(of.edges.length);
      expect(made.isDraft).to.equal(true);
    }
    expect(names).to.deep.equal(['original copy', 'original copy 2', 'original copy 3']);
    const long = await drawPipeline(root, environmentId, soundGraph(), 'y'.repeat(100));
    const copy = await root.mutate<PipelineRef>('pipeline.clone', { pipelineId: long.id });
    expect(copy.name).to.equal(`${'y'.repeat(95)} copy`);
  });

  it('are copied by ten at once under ten names', async () => {
    const { id } = await drawPipeline(root, environmentId, soundGraph(), 'popular');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        root.call<PipelineRef>('mutation', 'pipeline.clone', { pipelineId: id }),
      ),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(10).fill(200));
    expect(new Set(answers.map(({ output }) => output?.name)).size).to.equal(10);
  });

  it('reach another environment without the credentials that are written out in them', async () => {
    const target = await root.mutate<{ id: string }>('environment.create', { teamId, name: 'target' });
    const { id } = await drawPipeline(
      root,
      environmentId,
      {
        nodes: [
          component('in', 'demo_logs', 'SOURCE', { format: 'json' }),
          component('out', 'http', 'SINK', {
            uri: 'http://x',
            auth: { strategy: 'basic', user: 'me', password: 'written-out-password' },
            request: { headers: { Authorization: 'Bearer written-out-password' } },
            // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder as it is written
            token: '${SVC_SECRET_ELSEWHERE}',
          }),
        ],
        edges: [edge('in', 'out')],
        globalConfig: { proxy: { password: 'written-out-password' } },
      },
      'promoted',
    );
    const copy = await root.mutate<PipelineRef & { strippedFields: string[]; missingSecrets: string[] }>(
      'pipeline.promote',
      { pipelineId: id, targetEnvironmentId: target.id },
    );
    expect(copy.strippedFields).to.have.members([
      '/out/auth/password',
      '/out/request/headers/Authorization',
      '/global/proxy/password',
    ]);
    expect(copy.missingSecrets).to.deep.equal(['SVC_SECRET_ELSEWHERE']);
    const made = await get(copy.id);
    expect(JSON.stringify(made)).not.to.include('written-out-password');
    expect(made).to.include({ name: 'promoted', isDraft: true, environmentId: target.id });
    expect(made.nodes[1]?.config).to.deep.include({ auth: { strategy: 'basic', user: 'me' } });
    const again = await root.call('mutation', 'pipeline.promote', {
      pipelineId: id,
      targetEnvironmentId: target.id,
    });
    expect(again.status).to.equal(409);
    const named = { pipelineId: id, targetEnvironmentId: target.id, name: 'another name' };
    expect((await root.call('mutation', 'pipeline.promote', named)).status).to.equal(200);
  });

  it('are undeployed and hidden when deleted, and come back as drafts with their versions', async () => {
    const { id, name } = await drawPipeline(root, environmentId, soundGraph(), 'mourned');
    await root.mutate('deploy.agent', { pipelineId: id, changelog: 'first' });
    await root.mutate('pipeline.delete', { id });
    expect((await list()).some((one) => one.id === id)).to.equal(false);
    for (const [procedure, input] of [
      ['pipeline.get', { id }],
      ['pipeline.versions', { pipelineId: id }],
    ] as const) {
      expect((await root.call('query', procedure, input)).status, procedure).to.equal(404);
    }
    await root.mutate('pipeline.restore', { id });
    expect(await get(id)).to.include({ name, isDraft: true, latestVersionNumber: 1 });
    expect(await root.query<VersionSummary[]>('pipeline.versions', { pipelineId: id })).to.have.length(1);
    expect((await root.call('mutation', 'pipeline.restore', { id })).status).to.equal(404);
  });

  it('do not come back under a name that another has taken meanwhile', async () => {
    const { id } = (await create('wanted')).output as PipelineRef;
    await root.mutate('pipeline.delete', { id });
    expect((await create('Wanted')).status).to.equal(200);
    const { status, fault } = await root.call('mutation', 'pipeline.restore', { id });
    expect(status).to.equal(409);
    expect(fault?.message).to.match(/Another pipeline has this name now/);
  });
});

describe('pipelines that git describes', () => {
  const test = useController();
  const teams = useTwoTeams(test);

  it('are changed in git alone: every other way is refused with path and line', async () => {
    const { pipelineId, environmentId } = teams.ours;
    const shared = await teams.editor.mutate<{ id: string }>('sharedComponent.create', {
      environmentId,
      name: 'lines of all',
      componentType: 'demo_logs',
      kind: 'SOURCE',
      config: { format: 'json' },
    });
    const node = { pipelineId, nodeId: 'lines' };
    const calls: Record<string, object> = {
      'pipeline.update': { id: pipelineId, description: 'by hand' },
      'pipeline.delete': { id: pipelineId },
      'pipeline.saveGraph': { pipelineId, nodes: [], edges: [] },
      'pipeline.createVersion': { pipelineId, configYaml: 'sources: {}' },
      'deploy.agent': { pipelineId, changelog: 'by hand' },
      'deploy.undeploy': { pipelineId },
      'sharedComponent.createFromNode': { ...node, environmentId, name: 'from git' },
      'sharedComponent.linkExisting': { ...node, sharedComponentId: shared.id },
      'sharedComponent.unlink': node,
      'sharedComponent.acceptUpdate': node,
      'sharedComponent.acceptUpdateBulk': { pipelineId },
    };
    for (const [name, input] of Object.entries(calls)) {
      const { status, fault } = await teams.editor.call('mutation', name, input);
      expect(status, name).to.equal(412);
      expect(fault?.message, name).to.equal(
        'The pipeline "orders" is described in git (ours/orders.yaml:1); change it there and push, and it follows',
      );
      expect(fault?.data, name).to.include({ managedBy: 'git', path: 'ours/orders.yaml', line: 1 });
    }
    const after = await teams.editor.query<Pipeline>('pipeline.get', { id: pipelineId });
    expect(after).to.include({ isDraft: false, latestVersionNumber: 1 });
  });

  it('may be copied, filed in a group, and are no target of a plain copy', async () => {
    const { pipelineId, environmentId } = teams.ours;
    const copy = await teams.editor.mutate<PipelineRef>('pipeline.clone', { pipelineId });
    expect(await teams.editor.query<Pipeline>('pipeline.get', { id: copy.id })).to.include({
      managedBy: 'ui',
    });
    expectRefused(
      await teams.editor.call('mutation', 'pipeline.promote', {
        pipelineId: copy.id,
        targetEnvironmentId: environmentId,
        name: 'by hand',
      }),
      412,
      /promotion\.initiate/,
    );
  });

  it('are rolled back and undeployed all the same, where git is to stay away from it', async () => {
    const { pipelineId, versionId } = teams.ours;
    const get = () => teams.editor.query<Pipeline>('pipeline.get', { id: pipelineId });
    await teams.editor.mutate('pipeline.rollback', { pipelineId, targetVersionId: versionId });
    expect(await get()).to.include({ isDraft: false, latestVersionNumber: 2 });
    await teams.editor.mutate('deploy.undeploy', { pipelineId, hold: true, reason: 'it leaks' });
    expect(await get()).to.include({ isDraft: true });
    const { holds } = await teams.viewer.query<{ holds: { name: string; reason: string }[] }>(
      'gitSync.holds',
      {
        environmentId: teams.ours.environmentId,
      },
    );
    expect(holds.map(({ name, reason }) => [name, reason])).to.deep.equal([['orders', 'it leaks']]);
  });
});
