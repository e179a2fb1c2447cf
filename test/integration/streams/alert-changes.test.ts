/** Streams of alert events: each change once it happened, in order. */
import { expect } from 'chai';
import type { AlertEventPage, AlertRule } from '../../../schemas/api/insight/alerts.ts';
import { heartbeat } from '../../support/agents/agent-client.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';
import { OtlpReceiver } from '../../support/servers/otlp-receiver.ts';
import { Receiver } from '../../support/servers/receiver.ts';

interface Change {
  kind: string;
  note: string | null;
  userEmail: string | null;
  event: { id: string; ruleName: string; nodeName: string; environmentName: string; teamName: string };
}

describe('streams of alert events', function () {
  this.timeout(60_000);
  const test = useController();
  const teams = useTwoTeams(test);
  const receivers: { close(): Promise<void> }[] = [];

  afterEach(async () => {
    await test.db('event_streams').delete();
    for (const receiver of receivers.splice(0)) await receiver.close();
  });

  /** A rule whose event fires, is acknowledged, and ends with the rule. */
  async function happen(name: string): Promise<void> {
    const { environmentId, teamId, node, pipelineId } = teams.ours;
    await node.heartbeat(heartbeat({ pipelines: [{ pipelineId, version: 1, status: 'RUNNING' }] }));
    const rule = await teams.editor.mutate<AlertRule>('alert.createRule', {
      ...{ environmentId, teamId, name, metric: 'node_unreachable', condition: 'lt', threshold: 2 },
      durationSeconds: 0,
    });
    const events = async () =>
      (await teams.viewer.query<AlertEventPage>('alert.listEvents', { environmentId, ruleId: rule.id }))
        .events;
    await until(async () => (await events()).length > 0, { what: 'the rule to fire' });
    const [event] = await events();
    await teams.editor.mutate('alert.acknowledgeEvent', { id: event?.id, note: 'on it' });
    await teams.editor.mutate('alert.deleteRule', { id: rule.id });
    await until(async () => (await events())[0]?.status === 'resolved', { what: 'the event to end' });
  }
  const create = (kind: 'webhook' | 'otlp', url: string) =>
    teams.root.mutate('stream.create', { name: kind, source: 'alerts', kind, url });

  it('go to a webhook, with the event and who did what', async () => {
    await happen('before');
    const receiver = await Receiver.start();
    receivers.push(receiver);
    await create('webhook', receiver.url);
    await happen('streamed');
    const changes = () =>
      receiver.requests.flatMap(({ body }) => (JSON.parse(body) as { entries: Change[] }).entries);
    await until(() => changes().some(({ kind }) => kind === 'resolved'), { what: 'the end of the event' });
    expect(changes().map(({ kind, note, event }) => [event.ruleName, kind, note])).to.deep.equal([
      ['streamed', 'fired', null],
      ['streamed', 'acknowledged', 'on it'],
      ['streamed', 'resolved', 'its rule was deleted'],
    ]);
    expect(changes()[1]?.userEmail).to.equal(teams.editor.email);
    expect(changes()[0]?.event).to.include({
      nodeName: 'ours-node',
      environmentName: 'ours',
      teamName: 'ours',
    });
    expect(JSON.parse(receiver.requests[0]?.body ?? '{}').type).to.equal('alerts.changes');
  });

  it('go to an OTLP endpoint as logs', async () => {
    const receiver = await OtlpReceiver.start();
    receivers.push(receiver);
    await create('otlp', receiver.url);
    await happen('logged');
    const names = () => receiver.records.map(({ eventName }) => eventName);
    await until(() => names().includes('alert.resolved'), { what: 'the end of the event' });
    expect(names()).to.deep.equal(['alert.fired', 'alert.acknowledged', 'alert.resolved']);
  });
});
