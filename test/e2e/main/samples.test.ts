/** Events from a real engine, through the built agent, to whoever asked: samples of a moment, and a live tap. */
import { expect } from 'chai';
import type { EventSchemas, SampleResultView, TapEvents } from '../../../schemas/api/fleet/samples.ts';
import { type NodeAgent, startNodeAgent } from '../../support/agents/node-agent.ts';
import { openStream } from '../../support/clients/http.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';
import type { TestUser } from '../../support/users/person.ts';

const CONFIG = `sources:
  lines:
    type: demo_logs
    format: shuffle
    interval: 0.05
    lines: ['{"user":"ada","n":7,"api_key":"c4n4ry","message":"login token=c4n4ry ok"}']
transforms:
  parsed: { type: remap, inputs: [lines], source: '. = parse_json!(.message)' }
  split: { type: route, inputs: [parsed], route: { few: '.n == 0' } }
sinks:
  out: { type: blackhole, inputs: [split.few, split._unmatched], print_interval_secs: 0 }
`;

describe('events of a pipeline that runs', function () {
  this.timeout(60_000);
  this.slow(20_000);
  let test: TestController;
  let root: TestUser;
  let agent: NodeAgent | undefined;
  let pipelineId: string;

  before(async () => {
    test = await startTestController();
    root = await test.root();
    const { environmentId } = await testEnvironment(root);
    ({ id: pipelineId } = await root.mutate<{ id: string }>('pipeline.create', {
      environmentId,
      name: 'logins',
    }));
    const { nodes, edges } = await root.mutate<{ nodes: object[]; edges: object[] }>('pipeline.readYaml', {
      pipelineId,
      configYaml: CONFIG,
    });
    await root.mutate('pipeline.saveGraph', {
      pipelineId,
      nodes,
      edges,
    });
    await root.mutate('deploy.agent', { pipelineId, changelog: 'first' });
    const { token } = await root.mutate<{ token: string }>('environment.generateEnrollmentToken', {
      environmentId,
    });
    agent = await startNodeAgent({ url: test.url, token });
    const runs = async () =>
      (
        await root.query<{ nodes: { status: string }[] }>('pipeline.deploymentStatus', { pipelineId })
      ).nodes.some(({ status }) => status === 'RUNNING');
    await until(runs, { what: 'the pipeline to run', timeoutMs: 30_000, everyMs: 100 });
  });
  after(async () => {
    await agent?.remove();
    await test?.stop();
  });

  it('comes as samples of each component, with its fields, blanked', async () => {
    const componentKeys = ['parsed', 'out', 'split._unmatched', 'split.few'];
    const { requestId } = await root.mutate<{ requestId: string }>('pipeline.requestSamples', {
      ...{ pipelineId, componentKeys, limit: 2 },
    });
    const read = () => root.query<SampleResultView>('pipeline.sampleResult', { requestId });
    await until(async () => (await read()).status === 'COMPLETED', {
      what: 'all components to have answered',
      timeoutMs: 40_000,
      everyMs: 100,
    });
    const { results } = await read();
    expect(results.map(({ componentKey, events }) => [componentKey, events.length])).to.deep.equal([
      ...[
        ['parsed', 2],
        ['out', 2],
        ['split._unmatched', 2],
        ['split.few', 0],
      ],
    ]);
    expect(results[0]?.events[0]).to.include({
      ...{ user: 'ada', n: 7, api_key: '[redacted]', message: 'login token=[redacted] ok' },
    });
    expect(results[3]?.error).to.be.a('string');
    expect(JSON.stringify(results)).not.to.include('c4n4ry');
    const [out] = await root.query<EventSchemas>('pipeline.eventSchemas', { pipelineId });
    expect(out?.fields.map(({ path, type }) => `${path} ${type}`)).to.include.members([
      '.n integer',
      '.user string',
    ]);
  });

  it('comes live, until the one who watches stops it', async () => {
    const { tapId } = await root.mutate<{ tapId: string }>('pipeline.startTap', {
      pipelineId,
      componentKey: 'parsed',
    });
    const stream = await openStream(`${test.url}/api/taps/${tapId}`, { cookie: root.cookie });
    try {
      const events = () => stream.events<TapEvents>('events').flatMap((batch) => batch.events);
      await until(() => events().length >= 20, { what: 'events', timeoutMs: 20_000 });
      expect(events()[0]).to.include({ user: 'ada', api_key: '[redacted]' });
      expect(stream.text()).not.to.include('c4n4ry');
      await root.mutate('pipeline.stopTap', { tapId });
      await until(() => stream.ended(), { what: 'the end' });
      expect(stream.events('ended')).to.deep.equal([{ reason: 'It was stopped' }]);
    } finally {
      stream.close();
    }
    expect(await test.db('tap_batches')).to.deep.equal([]);
  });

  it('comes live no longer than its pipeline is deployed', async () => {
    const { tapId } = await root.mutate<{ tapId: string }>('pipeline.startTap', {
      pipelineId,
      componentKey: 'out',
    });
    const stream = await openStream(`${test.url}/api/taps/${tapId}`, { cookie: root.cookie });
    try {
      await until(() => stream.events('events').length > 0, { what: 'events', timeoutMs: 20_000 });
      await root.mutate('deploy.undeploy', { pipelineId });
      await until(() => stream.ended(), { what: 'the end', timeoutMs: 20_000 });
      expect(stream.events('ended')).to.have.length(1);
    } finally {
      stream.close();
    }
  });
});
