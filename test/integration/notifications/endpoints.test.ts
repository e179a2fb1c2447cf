/** Endpoints over the API: what is taken, what is shown to whom, tests, and deliveries that are sent again. */
import { expect } from 'chai';
import { enqueueNotices } from '../../../controller/insight/notifications/index.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import type {
  NotificationDelivery,
  NotificationDeliveryList,
  WebhookEndpoint,
} from '../../../schemas/api/insight/notifications.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';
import { useEndpoints, useReceiver, verifyBody } from '../../support/scenes/webhook-endpoints.ts';
import type { ReceivedMessage } from '../../support/servers/webhook-receiver.ts';
import type { TestUser } from '../../support/users/person.ts';

describe('webhook endpoints', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  const receiver = useReceiver();
  const { create, testOf, faultOf } = useEndpoints(test, teams, receiver);
  let admin: TestUser;
  let teamId: string;
  let environmentId: string;
  before(() => {
    admin = teams.admin;
    ({ teamId, environmentId } = teams.ours);
  });

  it('refuse what they cannot send to, and say what to do', async () => {
    const base = { teamId, name: 'x', eventTypes: ['cpu_usage'] };
    for (const [more, says] of [
      [{ url: 'https://10.0.0.1/' }, /^400 url: .*HEADGATE_PRIVATE_TARGETS/],
      [{ url: 'ftp://example.org' }, /^400 url: an address must begin with https:/],
      [{ url: 'https://me:hunter2@example.org' }, /^400 url: .*no user name/],
      [{ url: 'mailto:a@example.org' }, /^412 This installation sends no e-mail.*HEADGATE_SMTP_URL/],
      [{ url: receiver.url, secret: 'whsec_!!!!!!' }, /^400 A secret that begins with whsec_/],
      [{ url: receiver.url, secret: 'short' }, /^400 .*secret/],
      [{ url: receiver.url, format: 'pagerduty' }, /^400 secret: the format pagerduty needs one/],
      [{ url: receiver.url, headers: { 'Webhook-Signature': 'x' } }, /^400 headers: "Webhook-Signature"/],
      [{ url: receiver.url, headers: { 'a b': 'x' } }, /^400 /],
      [{ url: receiver.url, eventTypes: [] }, /^400 .*eventTypes/],
      [{ url: receiver.url, eventTypes: ['mood'] }, /^400 .*eventTypes/],
    ] as const)
      expect(await faultOf('webhookEndpoint.create', { ...base, ...more }), JSON.stringify(more)).to.match(
        says,
      );
    await create();
    expect(await faultOf('webhookEndpoint.create', { ...base, name: 'ON CALL', url: receiver.url })).to.match(
      /^409 A webhook endpoint named "ON CALL" exists already in this team/,
    );
  });

  it('send a signed test and answer its outcome', async () => {
    const { id, secret } = await create({ headers: { 'X-Scope': 'canary-header' } });
    const outcome = await testOf(id);
    expect(outcome).to.include({ kind: 'test', state: 'delivered', attempts: 1, responseStatus: 200 });
    const [message] = receiver.messages;
    const body = verifyBody(secret, message as ReceivedMessage) as { type: string };
    expect([body.type, message?.headers['x-scope']]).to.deep.equal(['test', 'canary-header']);
    receiver.react = () => ({ status: 404 });
    expect(await testOf(id)).to.include({
      ...{ state: 'failed', responseStatus: 404, attempts: 1, nextAttemptAt: null },
      error: 'the receiver answers with status 404',
    });
    receiver.react = () => 'cut';
    expect(await testOf(id)).to.include({ state: 'failed', responseStatus: null });
    const { deliveries, total } = await teams.viewer.query<NotificationDeliveryList>(
      'webhookEndpoint.listDeliveries',
      { webhookEndpointId: id, teamId, take: 2 },
    );
    expect([total, deliveries.map(({ state }) => state)]).to.deep.equal([3, ['failed', 'failed']]);
    const rest = await teams.viewer.query<NotificationDeliveryList>('webhookEndpoint.listDeliveries', {
      ...{ webhookEndpointId: id, teamId, skip: 2 },
    });
    expect(rest.deliveries.map(({ state }) => state)).to.deep.equal(['delivered']);
    const [listed] = await admin.query<WebhookEndpoint[]>('webhookEndpoint.list', { teamId });
    expect(listed?.lastDelivery).to.include({ state: 'failed' });
  });

  it('are sent what is queued by the controller that leads, and again by hand', async () => {
    const { id } = await create();
    receiver.react = () => ({ status: 410 });
    const context = test.controller.systemContext('test');
    const at = new Date();
    await test.db.transaction((db) =>
      enqueueNotices({ ...context, db }, [
        {
          ...{ eventId: newId(), status: 'firing', at, firedAt: at, ruleId: 'rule', ruleName: 'Down' },
          ...{ metric: 'node_unreachable', condition: 'eq', threshold: 1, durationSeconds: 0, value: 1 },
          ...{ environment: { id: environmentId, name: 'ours' }, team: { id: teamId, name: 'ours' } },
          ...{ node: null, pipeline: null, message: 'A node is down' },
        },
      ]),
    );
    await test.db('notification_deliveries').update({ next_at: new Date() });
    await context.services.bus.publish(test.db, {
      ...{ type: 'wake', loop: 'notifications', key: id, trigger: 'test' },
    });
    const list = async () =>
      (
        await admin.query<NotificationDeliveryList>('webhookEndpoint.listDeliveries', {
          ...{ webhookEndpointId: id, teamId },
        })
      ).deliveries[0];
    await until(async () => (await list())?.state === 'failed', { what: 'it to be given up' });
    const failed = await list();
    expect(failed).to.include({ ruleName: 'Down', environmentName: 'ours', total: 1, responseStatus: 410 });
    receiver.react = () => ({ status: 200 });
    const again = await admin.mutate<NotificationDelivery>('webhookEndpoint.redeliver', {
      ...{ deliveryId: failed?.id, teamId },
    });
    expect(again).to.include({ id: failed?.id, state: 'waiting', attempts: 0 });
    await until(async () => (await list())?.state === 'delivered', { what: 'it to be delivered' });
    expect(receiver.messages.map(({ headers }) => headers['webhook-id'])).to.deep.equal(
      Array(receiver.messages.length).fill(failed?.id),
    );
    await admin.mutate('webhookEndpoint.toggleEnabled', { id, teamId });
    expect(await faultOf('webhookEndpoint.redeliver', { deliveryId: failed?.id, teamId })).to.match(
      /^412 The endpoint is disabled/,
    );
  });

  it('of services that keep a state are not sent one of the past', async () => {
    const { id } = await create({ format: 'pagerduty', secret: 'integration-key' });
    const made = {
      endpoint_id: id,
      lane: 'past',
      state: 'failed',
      total: 1,
      created_at: new Date(),
    } as const;
    await test.db('notification_deliveries').insert([
      { ...made, id: 'old-firing', kind: 'firing', body: '{}', format: 'pagerduty' },
      { ...made, id: 'old-resolved', kind: 'resolved', body: '{}', format: 'pagerduty' },
    ]);
    const fault = (deliveryId: string) => faultOf('webhookEndpoint.redeliver', { deliveryId, teamId });
    expect(await fault('old-firing')).to.match(/^412 No alert of this rule is open any more/);
    await test.db('notification_open_events').insert({
      ...{ event_id: 'e', rule_id: 'past', environment_id: environmentId, metric: 'cpu_usage' },
      ...{ fired_at: new Date(), notice: '{}' },
    });
    expect(await fault('old-resolved')).to.match(/^412 Alerts of this rule are open again/);
    const alertmanager = await create({ name: 'Alertmanager', format: 'alertmanager' });
    const grouped = { ...made, endpoint_id: alertmanager.id, format: 'alertmanager', body: '{}', total: 2 };
    await test.db('notification_deliveries').insert([
      { ...grouped, id: 'group-firing', kind: 'firing' },
      { ...grouped, id: 'group-resolved', kind: 'resolved' },
      { ...grouped, id: 'other-resolved', kind: 'resolved' },
    ]);
    const event = { position: 0, notice: '{}' };
    await test.db('notification_delivery_events').insert([
      { ...event, delivery_id: 'group-firing', event_id: 'e', status: 'firing' },
      { ...event, delivery_id: 'group-firing', event_id: 'ended', status: 'firing' },
      { ...event, delivery_id: 'group-resolved', event_id: 'e', status: 'resolved' },
      { ...event, delivery_id: 'group-resolved', event_id: 'ended', status: 'resolved' },
      { ...event, delivery_id: 'other-resolved', event_id: 'ended', status: 'resolved' },
    ]);
    expect(await fault('group-firing')).to.match(/^412 An alert of this delivery is not open any more/);
    expect(await fault('group-resolved')).to.match(/^412 An alert of this delivery is open again/);
    expect(await fault('other-resolved')).to.match(/^200/);
    await test.db('notification_open_events').delete();
  });

  it('change their format with what it needs', async () => {
    const { id } = await create();
    const update = (change: object) => faultOf('webhookEndpoint.update', { id, teamId, ...change });
    expect(await update({ format: 'pagerduty' })).to.match(/^400 secret: the format pagerduty needs one/);
    expect(await update({ format: 'slack' })).to.match(/^200/);
    expect(await faultOf('webhookEndpoint.rotateSecret', { id, teamId })).to.match(
      /^412 .*slack are not signed/,
    );
    expect(await update({ format: 'standard' })).to.match(/^400 secret: .*give a secret with the new format/);
    expect(await update({ format: 'standard', secret: 'a new secret' })).to.match(/^200/);
    const [endpoint] = await admin.query<WebhookEndpoint[]>('webhookEndpoint.list', { teamId });
    expect(endpoint).to.include({ format: 'standard', hasSecret: true, previousSecretUntil: null });
  });

  it('are deleted with the history of their deliveries', async () => {
    const { id } = await create();
    await testOf(id);
    await admin.mutate('webhookEndpoint.delete', { id, teamId });
    expect(await test.db('notification_deliveries').where({ endpoint_id: id })).to.have.length(0);
  });

  it('show an example of each format', async () => {
    for (const format of ['standard', 'slack', 'email']) {
      const preview = await teams.viewer.query<{ subject: string | null; body: string }>(
        'webhookEndpoint.preview',
        { teamId, format },
      );
      expect(preview.body, format).to.include('CPU usage is 97.5 %, above 90 % for 60 s');
      expect(preview.subject === null, format).to.equal(format !== 'email');
    }
  });

  it('are 50 of a team at most', async () => {
    await test.db.raw(
      `INSERT INTO webhook_endpoints (id, team_id, name, sealed_url) SELECT 'e' || n, ?, 'e' || n, 'x' FROM generate_series(1, 50) n`,
      [teamId],
    );
    expect(
      await faultOf('webhookEndpoint.create', {
        ...{ teamId, name: 'one more', url: receiver.url, eventTypes: ['cpu_usage'] },
      }),
    ).to.match(/^412 There are 50 webhook endpoints here/);
  });
});
