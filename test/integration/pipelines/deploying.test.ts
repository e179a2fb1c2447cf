/** Deploys, versions and rollbacks of pipelines that people draw: what reaches the nodes, and what several do at once. */
import { expect } from 'chai';
import type { Knex } from 'knex';
import type { ConfigResponse } from '../../../schemas/agent/protocol.ts';
import type { DeployPreview } from '../../../schemas/api/pipelines/deployments.ts';
import type { Pipeline } from '../../../schemas/api/pipelines/pipelines.ts';
import type { Version, VersionSummary } from '../../../schemas/api/pipelines/versions.ts';
import { enrollNode, type TestNode } from '../../support/agents/agent-client.ts';
import { component, drawPipeline, edge, soundGraph } from '../../support/fixtures/graphs.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { whileWaiting } from '../../support/harness/lock-waiters.ts';
import { until } from '../../support/harness/until.ts';
import { beforeEngineCheck } from '../../support/scenes/engine-check.ts';
import { enrollmentToken } from '../../support/scenes/places.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';

interface Made {
  versionId: string;
  versionNumber: number;
}

describe('versions of a pipeline that people draw', () => {
  const test = useController();
  const root = useRoot(test);
  let environmentId: string;
  let node: TestNode;

  before(async () => {
    ({ environmentId } = await testEnvironment(root));
    const token = await enrollmentToken(root, environmentId);
    node = await enrollNode(test.url, token);
  });

  const draw = (graph = soundGraph()) => drawPipeline(root, environmentId, graph);
  const deploy = (pipelineId: string, changelog = 'a change') =>
    root.mutate<Made>('deploy.agent', { pipelineId, changelog });
  const get = (id: string) => root.query<Pipeline>('pipeline.get', { id });
  const versions = (pipelineId: string) => root.query<VersionSummary[]>('pipeline.versions', { pipelineId });
  /** What the node is told to run of a pipeline, once it is this version; null: none. */
  async function served(pipelineId: string, version: number | null) {
    let found: ConfigResponse['pipelines'][number] | undefined;
    await until(
      async () => {
        const { pipelines } = (await node.config()).json<ConfigResponse>();
        found = pipelines.find((one) => one.pipelineId === pipelineId);
        return (found?.version ?? null) === version;
      },
      // A node may poll 120 times a minute.
      { what: () => `version ${version} is served and not ${found?.version}`, everyMs: 50 },
    );
    return found;
  }

  it('are made by each deploy, numbered without a gap, with who made them and why', async () => {
    const { id } = await draw();
    expect(await deploy(id, 'the first')).to.include({ versionNumber: 1 });
    expect(await deploy(id, 'nothing new')).to.include({ versionNumber: 2 });
    const listed = await versions(id);
    expect(
      listed.map(({ version, changelog, isDeployed }) => [version, changelog, isDeployed]),
    ).to.deep.equal([
      [2, 'nothing new', true],
      [1, 'the first', false],
    ]);
    expect(listed[0]).to.include({ source: 'ui', createdByName: 'Administrator', commit: null });
    expect(await get(id)).to.include({ isDraft: false, hasConfigChanges: false, deployedVersionNumber: 2 });
    await served(id, 2);
  });

  it('never change: an edit afterwards is in the next one only', async () => {
    const { id } = await draw(soundGraph('.step = 1'));
    const { versionId } = await deploy(id);
    const before = await root.query<Version>('pipeline.getVersion', { versionId });
    await root.mutate('pipeline.saveGraph', { pipelineId: id, ...soundGraph('.step = 2') });
    expect(await get(id)).to.include({ hasConfigChanges: true, isDraft: false });
    expect((await served(id, 1))?.configYaml).to.include('.step = 1');
    const preview = await root.query<DeployPreview>('deploy.preview', { pipelineId: id });
    expect(preview).to.include({ hasChanges: true, valid: true, nextVersion: 2 });
    expect(preview.diff)
      .to.match(/^-.*\.step = 1$/m)
      .and.to.match(/^\+.*\.step = 2$/m);
    await deploy(id);
    expect(await root.query<Version>('pipeline.getVersion', { versionId })).to.deep.equal({
      ...before,
      isDeployed: false,
    });
    expect((await served(id, 2))?.configYaml).to.include('.step = 2');
  });

  it('are not made of a pipeline that does not validate; each error names component and place', async () => {
    const broken = {
      nodes: [
        component('lines', 'demo_logs', 'SOURCE', { format: 'json' }),
        component('mark', 'remap', 'TRANSFORM', { source: '.a = 1\n.b = nonsense(' }),
        component('out', 'blackhole', 'SINK'),
      ],
      edges: [edge('lines', 'mark'), edge('mark', 'out')],
    };
    const { id } = await draw(broken);
    const { status, fault } = await root.call('mutation', 'deploy.agent', { pipelineId: id, changelog: 'x' });
    expect(status).to.equal(400);
    expect(fault?.message).to.match(/^The pipeline is not deployed: VRL in "mark" does not compile/);
    const errors = (fault?.data.validationErrors ?? []) as Record<string, unknown>[];
    const [first] = errors;
    expect(first).to.include({
      componentKey: 'mark',
      level: 'vrl',
      path: '/transforms/mark/source',
      line: 2,
    });
    expect(await versions(id)).to.deep.equal([]);
    expect(await get(id)).to.include({ isDraft: true });
    const preview = await root.query<DeployPreview>('deploy.preview', { pipelineId: id });
    expect(preview.valid).to.equal(false);
    expect(preview.validationErrors[0]).to.deep.equal(first);
  });

  it('need at least a source and a sink that are not switched off, and the secrets that they name', async () => {
    for (const [graph, message] of [
      [{ nodes: [], edges: [] }, /has no source/],
      [{ nodes: [component('lines', 'demo_logs', 'SOURCE')], edges: [] }, /has no sink/],
      [
        {
          ...soundGraph(),
          nodes: soundGraph().nodes.map((one) => (one.kind === 'SINK' ? { ...one, disabled: true } : one)),
        },
        /has no sink/,
      ],
      [
        {
          nodes: [
            component('lines', 'demo_logs', 'SOURCE'),
            // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder as it is written
            component('out', 'http', 'SINK', { uri: 'http://x', auth: { token: '${SVC_SECRET_NONE}' } }),
          ],
          edges: [edge('lines', 'out')],
        },
        /the secret behind \$\{SVC_SECRET_NONE\} does not exist/,
      ],
      [
        {
          nodes: [component('lines', 'demo_logs', 'SOURCE'), component('out', 'blackhole', 'SINK')],
          edges: [],
        },
        /"out" has no input/,
      ],
    ] as const) {
      const { id } = await draw(graph as ReturnType<typeof soundGraph>);
      const { status, fault } = await root.call('mutation', 'deploy.agent', {
        pipelineId: id,
        changelog: '',
      });
      expect(status, String(message)).to.equal(400);
      expect(fault?.message).to.match(message);
    }
  });

  describe('that name a secret which somebody deletes meanwhile', () => {
    const NAMING = '.key = "$' + '{SVC_SECRET_MEANWHILE}"';
    let secretId: string;

    beforeEach(async () => {
      const input = { environmentId, name: 'meanwhile', value: 'a value' };
      secretId = (await root.mutate<{ id: string }>('secret.create', input)).id;
    });
    afterEach(async () => {
      const left = await root.query<{ id: string }[]>('secret.list', { environmentId });
      for (const { id } of left) await root.mutate('secret.delete', { environmentId, id });
    });

    const withoutSecret = (call: () => ReturnType<typeof root.call>) =>
      beforeEngineCheck(test, () => root.mutate('secret.delete', { environmentId, id: secretId }), call);
    const REFUSED = /Deleted while the pipeline was being checked: SVC_SECRET_MEANWHILE. Create it again/;

    it('are not deployed, and other pipelines of the environment still are', async () => {
      const { id } = await draw(soundGraph(NAMING));
      const { status, fault } = await withoutSecret(() =>
        root.call('mutation', 'deploy.agent', { pipelineId: id, changelog: 'x' }),
      );
      const other = await draw();
      await deploy(other.id);
      await served(other.id, 1);
      expect(status).to.equal(409);
      expect(fault?.message).to.match(REFUSED);
      expect(await get(id)).to.include({ isDraft: true, latestVersionNumber: null });
    });

    it('are not rolled back to', async () => {
      const { id } = await draw(soundGraph(NAMING));
      const { versionId } = await deploy(id);
      await root.mutate('pipeline.saveGraph', { pipelineId: id, ...soundGraph() });
      await deploy(id);
      const { status, fault } = await withoutSecret(() =>
        root.call('mutation', 'pipeline.rollback', { pipelineId: id, targetVersionId: versionId }),
      );
      expect(status).to.equal(409);
      expect(fault?.message).to.match(REFUSED);
      await served(id, 2);
    });

    it('keep it where they are deployed before it is deleted', async () => {
      const { id } = await draw(soundGraph(NAMING));
      const { versionId } = await deploy(id);
      await root.mutate('deploy.undeploy', { pipelineId: id });
      const deleting = {
        lock: (tx: Knex) => tx('environments').where({ id: environmentId }).forNoKeyUpdate().first('id'),
        change: (tx: Knex) =>
          tx('pipelines').where({ id }).update({ is_draft: false, deployed_version_id: versionId }),
      };
      const { status, fault } = await whileWaiting(test.db, deleting, () =>
        root.call('mutation', 'secret.delete', { environmentId, id: secretId }),
      );
      expect(status).to.equal(412);
      expect(fault?.message).to.match(/is used by deployed pipelines/);
      await root.mutate('deploy.undeploy', { pipelineId: id });
    });
  });

  it('are taken off the nodes by an undeploy, and a second undeploy finds what was wanted', async () => {
    const { id } = await draw();
    await deploy(id);
    await served(id, 1);
    await root.mutate('deploy.undeploy', { pipelineId: id });
    await served(id, null);
    expect(await get(id)).to.include({ isDraft: true, deployedVersionNumber: null, latestVersionNumber: 1 });
    expect(await root.mutate('deploy.undeploy', { pipelineId: id })).to.deep.equal({ success: true });
    expect(await get(id)).to.include({ isDraft: true, latestVersionNumber: 1 });
  });

  it('come back by a rollback: a new version with the old config, selector and graph, which runs at once', async () => {
    const { id } = await draw(soundGraph('.step = 1'));
    await root.mutate('pipeline.update', { id, logLevel: 'debug' });
    const first = await deploy(id);
    await root.mutate('pipeline.update', { id, logLevel: 'warn', nodeSelector: { role: 'none' } });
    await root.mutate('pipeline.saveGraph', { pipelineId: id, ...soundGraph('.step = 2') });
    await deploy(id);
    await served(id, null);
    const back = await root.mutate<Made>('pipeline.rollback', {
      pipelineId: id,
      targetVersionId: first.versionId,
    });
    expect(back.versionNumber).to.equal(3);
    const now = await served(id, 3);
    expect(now).to.include({ logLevel: 'debug' });
    expect(now?.configYaml).to.include('.step = 1');
    const pipeline = await get(id);
    expect(pipeline).to.include({ isDraft: false, hasConfigChanges: false, logLevel: 'debug' });
    expect(pipeline.nodes.find(({ componentKey }) => componentKey === 'mark')?.config).to.deep.equal({
      source: '.step = 1',
    });
    expect((await versions(id))[0]).to.include({ changelog: 'Rollback to version 1', isDeployed: true });
  });

  it('differ from the graph by what is in it, not by the order in which a text has its options', async () => {
    const { id } = await draw();
    await deploy(id);
    const made = await root.mutate<Made>('pipeline.createVersion', {
      pipelineId: id,
      configYaml:
        'sources: { lines: { type: demo_logs, interval: 2, format: json } }\nsinks: { out: { type: blackhole, inputs: [lines] } }\n',
    });
    await root.mutate('pipeline.rollback', { pipelineId: id, targetVersionId: made.versionId });
    expect(await get(id)).to.include({ hasConfigChanges: false });
    expect(await root.query<DeployPreview>('deploy.preview', { pipelineId: id })).to.include({
      hasChanges: false,
      diff: '',
    });
    const { versionId } = await deploy(id);
    const { diff } = await root.query<{ diff: string }>('pipeline.compareVersions', {
      fromVersionId: made.versionId,
      toVersionId: versionId,
    });
    expect(diff).to.equal('');
  });

  it('of a draft stay a draft after a rollback', async () => {
    const { id } = await draw(soundGraph('.step = 1'));
    const { versionId } = await deploy(id);
    await root.mutate('deploy.undeploy', { pipelineId: id });
    await root.mutate('pipeline.rollback', { pipelineId: id, targetVersionId: versionId });
    expect(await get(id)).to.include({ isDraft: true, latestVersionNumber: 2, deployedVersionNumber: null });
    await served(id, null);
  });

  it('are not rolled back to the version of another pipeline, though it is in reach', async () => {
    const [one, other] = [await draw(), await draw()];
    const { versionId } = await deploy(other.id);
    const { status } = await root.call('mutation', 'pipeline.rollback', {
      pipelineId: one.id,
      targetVersionId: versionId,
    });
    expect(status).to.equal(404);
  });

  it('are made of an engine config in YAML, without a deploy', async () => {
    const { id } = await draw();
    const text = `sources: { made: { type: demo_logs, format: json } }
transforms: { keep: { type: filter, inputs: ["ma*"], condition: 'true' } }
sinks: { out: { type: blackhole, inputs: [keep] } }
timezone: local
`;
    const made = await root.mutate<Made>('pipeline.createVersion', {
      pipelineId: id,
      configYaml: text,
      changelog: 'from a file',
    });
    expect(made.versionNumber).to.equal(1);
    const pipeline = await get(id);
    expect(pipeline.nodes.map(({ componentKey }) => componentKey).sort()).to.deep.equal([
      'keep',
      'made',
      'out',
    ]);
    expect(pipeline.globalConfig).to.deep.equal({ timezone: 'local' });
    expect(pipeline).to.include({ isDraft: true, latestVersionNumber: 1 });
    const { configYaml } = await root.query<Version>('pipeline.getVersion', { versionId: made.versionId });
    expect(configYaml, 'a wildcard is written out').to.match(/inputs:\n\s+- made/);
  });

  it('are not made of a text that is no config: the answer says where', async () => {
    const { id } = await draw();
    for (const [configYaml, message] of [
      ['sources: [1', /line 1/],
      ['- a\n- b\n', /A config is a mapping/],
      ['sources:\n  in: { format: json }\n', /line 2: "in" lacks its type/],
      ['sinks:\n  out: { type: blackhole }\n', /line 2: "out" lacks its inputs/],
      ['sources:\n  "a b": { type: demo_logs }\n', /line 2: "a b" is not a valid component key/],
      ['a: 1\n---\nb: 2\n', /one YAML document/],
      [`a: &x [${'1,'.repeat(1_000)}]\nb: [${'*x,'.repeat(200)}]\n`, /aliases/],
      [`a: &x ${'long '.repeat(20_000)}\nb: [${'*x,'.repeat(200)}]\n`, /aliases/],
      ['a: &x [*x]\n', /stands inside of what it stands for/],
      ['a: 1\na: 2\n', /line 2: the key a stands here twice/],
      ['a: "b\\0"\n', /holds a NUL/],
      ['"a\\uD800": 1\n', /half a surrogate pair/],
      ['a: .nan\n', /a number must be finite/],
      ['a: 12345678901234567890\n', /too large to be kept exactly/],
      [
        'sources: { in: { type: a } }\nsinks: { in: { type: b, inputs: [x] } }\n',
        /line 2: "in" is in sources too/,
      ],
      [
        'sources: { lines: { type: demo_logs } }\nsinks: { out: { type: blackhole, inputs: [linse] } }\n',
        /line 2: input "linse" of "out" matches no component; did you mean "lines"/,
      ],
    ] as const) {
      const { status, fault } = await root.call('mutation', 'pipeline.createVersion', {
        pipelineId: id,
        configYaml,
      });
      expect(status, configYaml).to.equal(400);
      expect(fault?.message, configYaml).to.match(message);
    }
    expect(await versions(id)).to.deep.equal([]);
  });

  it('are compared, any two of a pipeline', async () => {
    const { id } = await draw(soundGraph('.step = 1'));
    const first = await deploy(id);
    await root.mutate('pipeline.update', { id, logLevel: 'error', nodeSelector: { role: 'edge' } });
    await root.mutate('pipeline.saveGraph', { pipelineId: id, ...soundGraph('.step = 2') });
    const second = await deploy(id);
    const found = await root.query<{ diff: string; settings: object[] }>('pipeline.compareVersions', {
      fromVersionId: first.versionId,
      toVersionId: second.versionId,
    });
    expect(found.diff)
      .to.match(/^-.*\.step = 1$/m)
      .and.to.match(/^\+.*\.step = 2$/m);
    expect(found.settings).to.deep.equal([
      { name: 'logLevel', from: 'info', to: 'error' },
      { name: 'nodeSelector', from: 'every node', to: 'role=edge' },
    ]);
    const other = await draw();
    const third = await deploy(other.id);
    const { status } = await root.call('query', 'pipeline.compareVersions', {
      fromVersionId: first.versionId,
      toVersionId: third.versionId,
    });
    expect(status).to.equal(404);
  });

  it('are ten after ten deploys at the same moment, one after the other', async () => {
    const { id } = await draw();
    const made = await Promise.all(Array.from({ length: 10 }, (_, index) => deploy(id, `number ${index}`)));
    expect(made.map(({ versionNumber }) => versionNumber).sort((a, b) => a - b)).to.deep.equal(
      Array.from({ length: 10 }, (_, index) => index + 1),
    );
    const listed = await versions(id);
    expect(listed).to.have.length(10);
    expect(listed.filter(({ isDeployed }) => isDeployed).map(({ version }) => version)).to.deep.equal([10]);
    await served(id, 10);
  });

  it('come of deploys, undeploys, rollbacks, saves and deletes at once, and nothing answers 500', async () => {
    const { id } = await draw();
    const { versionId } = await deploy(id);
    const calls: [string, object][] = Array.from({ length: 6 }, () => [
      ['deploy.agent', { pipelineId: id, changelog: 'x' }] as [string, object],
      ['deploy.undeploy', { pipelineId: id }] as [string, object],
      ['pipeline.rollback', { pipelineId: id, targetVersionId: versionId }] as [string, object],
      ['pipeline.saveGraph', { pipelineId: id, ...soundGraph(`.n = ${Math.PI}`) }] as [string, object],
      ['pipeline.clone', { pipelineId: id }] as [string, object],
    ]).flat();
    const answers = await Promise.all(calls.map(([name, input]) => root.call('mutation', name, input)));
    for (const [index, { status, fault }] of answers.entries())
      expect(status, `${calls[index]?.[0]}: ${fault?.message}`).to.be.oneOf([200, 409, 412]);
    const numbers = (await versions(id)).map(({ version }) => version);
    expect(numbers).to.deep.equal(numbers.map((_, index) => numbers.length - index));
    const gone = await Promise.all(
      Array.from({ length: 5 }, () => root.call('mutation', 'pipeline.delete', { id })),
    );
    expect(gone.map(({ status }) => status).sort()).to.deep.equal([200, 404, 404, 404, 404]);
    await served(id, null);
  });
});
