/** GET /api/metrics: by key, of its own environment, as Prometheus reads it. */
import { expect } from 'chai';
import { heartbeat } from '../../support/agents/agent-client.ts';
import { send } from '../../support/clients/http.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';
import { findPrometheus, promtool } from '../../support/servers/metrics-stores.ts';

describe('GET /api/metrics', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  let key: string;
  let wrongKey: string;

  const keyWith = async (permissions: string[]) =>
    (
      await teams.admin.mutate<{ key: string }>('serviceAccount.create', {
        ...{ environmentId: teams.ours.environmentId, name: permissions.join(), permissions },
      })
    ).key;

  before(async () => {
    key = await keyWith(['metrics.read']);
    wrongKey = await keyWith(['pipelines.read']);
    await test.db('nodes').where({ id: teams.ours.node.nodeId }).update({ name: 'a "node"\\' });
    await teams.ours.node.heartbeat(
      heartbeat({
        pipelines: [
          {
            ...{
              pipelineId: teams.ours.pipelineId,
              version: 1,
              status: 'RUNNING',
              pid: 7,
              uptimeSeconds: 50,
            },
            ...{
              eventsIn: 100,
              eventsOut: 90,
              errorsTotal: 2,
              eventsDiscarded: 8,
              bytesIn: 1e6,
              bytesOut: 9e5,
            },
            utilization: 0.25,
            componentMetrics: [
              { componentId: 'in', componentKind: 'source', receivedEvents: 100, sentEvents: 100 },
              {
                ...{ componentId: 'parse', componentKind: 'transform', receivedEvents: 100, sentEvents: 90 },
                latencyMeanSeconds: 0.004,
              },
              {
                ...{ componentId: 'cut', componentKind: 'transform', receivedEvents: 90, sentEvents: 90 },
                latencyMeanSeconds: 0.002,
              },
            ],
          },
        ],
      }),
    );
  });

  const read = (authorization = `Bearer ${key}`) =>
    send(`${test.url}/api/metrics`, { headers: { authorization } });
  const lines = async () => (await read()).text.split('\n');

  it('tells nodes, pipelines and their counters by the names of the contract', async () => {
    const { nodeId } = teams.ours.node;
    const { pipelineId, environmentId } = teams.ours;
    const both = `node_id="${nodeId}",pipeline_id="${pipelineId}"`;
    await until(async () => (await read()).text.includes(`events_in_total{${both}} 100`), {
      what: 'the heartbeat to be stored',
    });
    const text = await lines();
    for (const expected of [
      `service_node_status{node_id="${nodeId}",node_name="a \\"node\\"\\\\",environment_id="${environmentId}"} 1`,
      `service_pipeline_status{${both}} 1`,
      `service_pipeline_events_in_total{${both}} 100`,
      `service_pipeline_events_out_total{${both}} 90`,
      `service_pipeline_errors_total{${both}} 2`,
      `service_pipeline_events_discarded_total{${both}} 8`,
      `service_pipeline_bytes_in_total{${both}} 1000000`,
      `service_pipeline_bytes_out_total{${both}} 900000`,
      `service_pipeline_utilization{${both}} 0.25`,
      `service_pipeline_latency_mean_ms{${both}} 3`,
    ])
      expect(text).to.include(expected);
    expect(text.some((line) => /^service_metric_store_streams [12]$/.test(line))).to.equal(true);
    expect(text.some((line) => /^service_metric_store_memory_bytes \d+$/.test(line))).to.equal(true);
  });

  it('has help and type for each of its twelve metrics, and nothing of another environment', async () => {
    const text = await lines();
    const ofKind = (kind: string) => text.filter((line) => line.startsWith(`# ${kind} service_`));
    expect(ofKind('HELP')).to.have.length(12);
    expect(ofKind('TYPE').every((line) => line.endsWith(' gauge'))).to.equal(true);
    expect(text.join('\n')).to.not.include(teams.theirs.node.nodeId);
  });

  it('leaves out latency and utilization that no engine reported', async () => {
    await test.db('node_pipelines').update({ latency_ms: null, utilization: null });
    const text = await lines();
    expect(text.some((line) => line.startsWith('service_pipeline_latency_mean_ms{'))).to.equal(false);
    expect(text.some((line) => line.startsWith('service_pipeline_utilization{'))).to.equal(false);
    expect(text.some((line) => line.startsWith('service_pipeline_events_in_total{'))).to.equal(true);
  });

  it('is read by Prometheus, which remarks only on names that the contract gives', async function () {
    if (findPrometheus() === null) this.skip();
    const remarks = promtool(['check', 'metrics'], (await read()).text);
    const forced =
      /non-counter metrics should not have "_total" suffix|use base unit "seconds"|should not contain abbreviated units/;
    expect(remarks.filter((line) => !forced.test(line))).to.deep.equal([]);
    expect(remarks.length).to.be.greaterThan(5);
  });

  it('wants a key that is known and may read metrics', async () => {
    expect((await send(`${test.url}/api/metrics`)).status).to.equal(401);
    expect((await read('Bearer svc_unknown')).status).to.equal(401);
    expect(
      (await send(`${test.url}/api/metrics`, { headers: { cookie: teams.admin.cookie } })).status,
    ).to.equal(401);
    const refused = await read(`Bearer ${wrongKey}`);
    expect(refused.status).to.equal(403);
    expect(refused.text).to.include('metrics.read');
  });

  it('answers in the type of the format, and is not cached', async () => {
    const { headers } = await read();
    expect(headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8');
    expect(headers['cache-control']).to.equal('no-store');
  });

  it('stands alone: what Headgate measures of itself is not there unless somebody asks for it', async () => {
    const own = await send(`${test.url}/metrics`, { headers: { authorization: `Bearer ${key}` } });
    expect(own.text).to.not.include('headgate_');
  });
});
