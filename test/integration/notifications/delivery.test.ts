/** Deliveries: grouped, signed, tried again, in order, whatever happens to the receiver and to the controller. */
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { webhookEndpointOperations } from '../../../controller/insight/notifications/index.ts';
import { until } from '../../support/harness/until.ts';
import { HOUR, MINUTE, SECOND, useNotificationScene } from '../../support/scenes/notifications.ts';
import type { ReceivedMessage, WebhookReceiver } from '../../support/servers/webhook-receiver.ts';

const idsOf = (receiver: WebhookReceiver) => receiver.taken.map(({ data }) => data.eventId);
const verify = (secret: string, { body, headers }: ReceivedMessage, at: number): unknown => {
  const now = Date.now;
  // The library reads the time of the machine.
  Date.now = () => at;
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    Date.now = now;
  }
};

describe('a notification', () => {
  const scene = useNotificationScene();

  it('is sent after the group wait, signed as Standard Webhooks says', async () => {
    const receiver = await scene.receiver();
    const { secret } = await scene.teamEndpoint(receiver.url);
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const loop = await scene.loop();
    const notice = scene.notice();
    await scene.enqueue(notice);
    await scene.advance(loop, 14 * SECOND);
    expect(receiver.messages).to.have.length(0);
    await scene.advance(loop, SECOND);
    const [message] = receiver.messages;
    expect(verify(secret ?? '', message as ReceivedMessage, scene.clock.now())).to.deep.equal({
      type: 'alert.firing',
      timestamp: notice.at.toISOString(),
      data: {
        ...{ eventId: notice.eventId, status: 'firing', ruleId: 'rule', ruleName: 'Node is down' },
        ...{ metric: 'node_unreachable', condition: 'eq', threshold: 1, durationSeconds: 60, value: 1 },
        environment: { id: scene.environmentId, name: 'production' },
        team: { id: scene.teamId, name: 'Platform' },
        node: { id: 'id-of-edge-1', name: 'edge-1', labels: { site: 'berlin' } },
        pipeline: null,
        message: 'edge-1 is unreachable for 60 s',
        at: notice.at.toISOString(),
        firedAt: notice.at.toISOString(),
        link: `http://localhost/e/${scene.environmentId}/alerts?event=${notice.eventId}`,
      },
    });
    expect(message?.headers['x-svc-signature'], 'of a team').to.equal(undefined);
    const [row] = await scene.deliveries((await scene.db('webhook_endpoints').first('id'))?.id ?? '');
    expect(row).to.include({ state: 'delivered', attempts: 1, last_status: 200, last_error: null });
    expect(message?.headers['webhook-id']).to.equal(row?.id);
  });

  it('goes to the endpoints that want its metric, and to those of its environment alone', async () => {
    const [all, cpu, ours] = [await scene.receiver(), await scene.receiver(), await scene.receiver()];
    await scene.teamEndpoint(all.url);
    await scene.teamEndpoint(cpu.url, { eventTypes: ['cpu_usage'] });
    await scene.environmentEndpoint(ours.url);
    const off = await scene.receiver();
    const { id } = await scene.teamEndpoint(off.url);
    await scene.scene.execute(webhookEndpointOperations.toggleEnabled, scene.context(), {
      id,
      teamId: scene.teamId,
    });
    const loop = await scene.loop();
    await scene.enqueue(
      scene.notice({ eventId: 'down' }),
      scene.notice({ eventId: 'busy', metric: 'cpu_usage', ruleId: 'busy' }),
      scene.notice({ eventId: 'elsewhere', team: { id: 'other', name: 'Other' } }),
    );
    await scene.advance(loop, 15 * SECOND);
    expect(idsOf(all).sort()).to.deep.equal(['busy', 'down']);
    expect(idsOf(cpu)).to.deep.equal(['busy']);
    expect(idsOf(ours).sort()).to.deep.equal(['busy', 'down']);
    expect(off.messages).to.have.length(0);
  });

  it('holds all that a rule says within the group wait: a rack of 40 nodes is one message', async () => {
    const receiver = await scene.receiver();
    await scene.teamEndpoint(receiver.url);
    const loop = await scene.loop();
    const rack = Array.from({ length: 40 }, (_, at) => scene.notice({ nodeName: `edge-${at}` }));
    for (let at = 0; at < 40; at += 10) {
      await scene.enqueue(...rack.slice(at, at + 10));
      await scene.advance(loop, SECOND);
    }
    await scene.advance(loop, 15 * SECOND);
    await scene.enqueue(...rack.map((notice) => scene.resolved(notice)));
    await scene.advance(loop, 15 * SECOND);
    const found = receiver.taken.map(({ type, data }) => ({
      ...{ type, total: data.total },
      events: data.events?.map(({ eventId }) => eventId),
    }));
    const events = rack.map(({ eventId }) => eventId);
    expect(found).to.deep.equal([
      { type: 'alert.firing', total: 40, events },
      { type: 'alert.resolved', total: 40, events },
    ]);
  });

  it('lists 100 alerts and says how many there are', async () => {
    const receiver = await scene.receiver();
    await scene.teamEndpoint(receiver.url);
    const loop = await scene.loop();
    await scene.enqueue(...Array.from({ length: 1_203 }, () => scene.notice()));
    await scene.advance(loop, 15 * SECOND);
    const sizes = receiver.taken.map(({ data }) => [data.total, data.events?.length]);
    expect(sizes).to.deep.equal([
      [1_000, 100],
      [203, 100],
    ]);
  });

  it('is tried again with the same id and body, signed at the time of the try', async () => {
    const receiver = await scene.receiver();
    const answers = [500, 429, 200];
    receiver.react = () => ({ status: answers.shift() ?? 200 });
    const { secret, id } = await scene.teamEndpoint(receiver.url);
    const loop = await scene.loop();
    await scene.enqueue(scene.notice());
    await scene.advance(loop, 15 * SECOND);
    const waiting = (await scene.deliveries(id))[0];
    expect(waiting).to.include({ state: 'waiting', attempts: 1, last_status: 500 });
    expect(waiting?.last_error).to.equal('the receiver answers with status 500');
    await scene.advance(loop, 10 * SECOND);
    verify(secret ?? '', receiver.messages[1] as ReceivedMessage, scene.clock.now());
    await scene.advance(loop, MINUTE);
    verify(secret ?? '', receiver.messages[2] as ReceivedMessage, scene.clock.now());
    expect(new Set(receiver.messages.map(({ body }) => body)).size).to.equal(1);
    expect(new Set(receiver.messages.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
    expect(new Set(receiver.messages.map(({ headers }) => headers['webhook-signature'])).size).to.equal(3);
    expect((await scene.deliveries(id))[0]).to.include({ state: 'delivered', attempts: 3, last_error: null });
  });

  it('is tried six times in two hours and a half, and then given up', async () => {
    const receiver = await scene.receiver();
    receiver.react = () => 'cut';
    const { id } = await scene.teamEndpoint(receiver.url);
    const loop = await scene.loop();
    await scene.enqueue(scene.notice());
    const times: number[] = [];
    const start = scene.clock.now();
    for (let at = 0; at < 3 * HOUR; at += 5 * SECOND) {
      const before = receiver.messages.length;
      await scene.advance(loop, 5 * SECOND);
      if (receiver.messages.length > before) times.push((scene.clock.now() - start) / SECOND);
    }
    expect(times).to.deep.equal([15, 25, 85, 385, 2_185, 9_385]);
    expect((await scene.deliveries(id))[0]).to.include({ state: 'failed', attempts: 6, next_at: null });
  }).timeout(60_000);

  it('arrives at a receiver that was away for an hour, with all that came meanwhile in one message', async () => {
    const receiver = await scene.receiver();
    await scene.teamEndpoint(receiver.url);
    const loop = await scene.loop();
    let isAway = true;
    receiver.react = () => (isAway ? 'cut' : { status: 200 });
    for (let minute = 0; minute < 60; minute += 1) {
      await scene.enqueue(scene.notice({ eventId: `event-${minute}` }));
      await scene.advance(loop, MINUTE);
    }
    isAway = false;
    await scene.advance(loop, 2 * HOUR, MINUTE);
    expect(receiver.taken).to.have.length(2);
    expect([idsOf(receiver)[0], receiver.taken[1]?.data.total]).to.deep.equal(['event-0', 59]);
  });

  it('waits as long as the receiver asks for, and no longer than an hour', async () => {
    const receiver = await scene.receiver();
    const waits = ['100', String(24 * 3_600)];
    receiver.react = () => {
      const wait = waits.shift();
      return wait ? { status: 503, headers: { 'retry-after': wait } } : { status: 204 };
    };
    await scene.teamEndpoint(receiver.url);
    const loop = await scene.loop();
    await scene.enqueue(scene.notice());
    await scene.advance(loop, 15 * SECOND);
    await scene.advance(loop, 99 * SECOND);
    expect(receiver.messages).to.have.length(1);
    await scene.advance(loop, SECOND);
    expect(receiver.messages).to.have.length(2);
    await scene.advance(loop, 59 * MINUTE);
    expect(receiver.messages).to.have.length(2);
    await scene.advance(loop, MINUTE);
    expect(receiver.messages).to.have.length(3);
  });

  for (const status of [400, 401, 404, 410, 413])
    it(`is given up at once where the answer is ${status}`, async () => {
      const receiver = await scene.receiver();
      receiver.react = () => ({ status });
      const { id } = await scene.teamEndpoint(receiver.url);
      const loop = await scene.loop();
      await scene.enqueue(scene.notice());
      await scene.advance(loop, HOUR, MINUTE);
      expect(receiver.messages).to.have.length(1);
      expect((await scene.deliveries(id))[0]).to.include({ state: 'failed', last_status: status });
    });

  it('follows no redirect to a private address, and none that makes a GET of it', async () => {
    const [inside, outside, moved] = [await scene.receiver(), await scene.receiver(), await scene.receiver()];
    inside.react = () => ({ status: 307, headers: { location: 'http://10.0.0.1/' } });
    outside.react = () => ({ status: 302, headers: { location: moved.url } });
    const ids = [(await scene.teamEndpoint(inside.url)).id, (await scene.teamEndpoint(outside.url)).id];
    const loop = await scene.loop();
    await scene.enqueue(scene.notice());
    await scene.advance(loop, HOUR, MINUTE);
    const errors = await Promise.all(ids.map(async (id) => (await scene.deliveries(id))[0]));
    expect(errors[0]).to.include({ state: 'failed', attempts: 1 });
    expect(errors[0]?.last_error).to.match(/^http:\/\/10\.0\.0\.1 does not answer, or may not be asked/);
    expect(errors[1]).to.include({ state: 'failed', attempts: 1 });
    expect(errors[1]?.last_error).to.match(/leads elsewhere, which is not followed/);
    expect(moved.messages).to.have.length(0);
  });

  it('of a slow endpoint holds no other up', async () => {
    const slow = await Promise.all(Array.from({ length: 6 }, () => scene.receiver()));
    for (const one of slow) {
      one.react = () => 'hold';
      await scene.teamEndpoint(one.url);
    }
    const quick = await scene.receiver();
    await scene.teamEndpoint(quick.url);
    await scene.loop();
    await scene.enqueue(scene.notice());
    scene.clock.advance(15 * SECOND);
    await until(() => quick.taken.length === 1 && slow.every(({ held }) => held === 1), {
      what: 'the quick one to be served while all others hang',
    });
    await scene.enqueue(scene.notice());
    scene.clock.advance(15 * SECOND);
    await until(() => quick.taken.length === 2, { what: 'the quick one to be served again' });
  });

  it('of one rule waits for the one before it, and for no other rule', async () => {
    const receiver = await scene.receiver();
    receiver.react = ({ body }) => ({ status: body.includes('"ruleId":"stuck"') ? 500 : 200 });
    await scene.teamEndpoint(receiver.url);
    const loop = await scene.loop();
    const stuck = scene.notice({ ruleId: 'stuck', eventId: 'first' });
    await scene.enqueue(stuck, scene.notice({ ruleId: 'other', eventId: 'other' }));
    await scene.advance(loop, 15 * SECOND);
    await scene.enqueue(scene.resolved(stuck), scene.notice({ ruleId: 'other', eventId: 'another' }));
    await scene.advance(loop, 2 * MINUTE, 5 * SECOND);
    expect(idsOf(receiver)).to.deep.equal(['other', 'another']);
    receiver.react = () => ({ status: 200 });
    await scene.advance(loop, 5 * MINUTE, MINUTE);
    const states = receiver.taken.slice(2).map(({ data }) => `${data.eventId} ${data.status}`);
    expect(states).to.deep.equal(['first firing', 'first resolved']);
  });

  it('is sent by the next controller where one died before it knew the outcome', async () => {
    const receiver = await scene.receiver();
    receiver.react = () => 'hold';
    const { id } = await scene.teamEndpoint(receiver.url);
    const first = await scene.loop();
    await scene.enqueue(scene.notice());
    scene.clock.advance(15 * SECOND);
    await until(() => receiver.held === 1, { what: 'the try to be under way' });
    await first.stop();
    receiver.react = () => ({ status: 200 });
    await scene.loop();
    await until(async () => (await scene.deliveries(id))[0]?.state === 'delivered', {
      what: 'the next controller to send it',
    });
    const [one, two] = receiver.messages;
    expect([two?.body, two?.headers['webhook-id']]).to.deep.equal([one?.body, one?.headers['webhook-id']]);
    expect((await scene.deliveries(id))[0], 'the first try had no outcome').to.include({ attempts: 1 });
  });

  it('is stored by the controller that leads alone, and sent again where the lease has moved', async () => {
    const receiver = await scene.receiver();
    receiver.react = () => 'hold';
    const { id } = await scene.teamEndpoint(receiver.url);
    // It never renews, like a process that hangs.
    const hanging = await scene.lease({ key: 'moving', ttlMs: 400, renewMs: 60_000 });
    await scene.loop({ lease: hanging });
    await scene.enqueue(scene.notice());
    scene.clock.advance(15 * SECOND);
    await until(() => receiver.held === 1, { what: 'the first leader to send' });
    const next = await scene.lease({ key: 'moving', ttlMs: 4_000, renewMs: 20 });
    await until(() => next.epoch() !== null, { what: 'the lease to move' });
    receiver.release();
    await scene.loop({ lease: next, idle: false });
    await until(() => receiver.held === 1, { what: 'the next leader to send' });
    expect((await scene.deliveries(id))[0], 'the late outcome is not stored').to.include({ attempts: 0 });
    receiver.release();
    await until(async () => (await scene.deliveries(id))[0]?.state === 'delivered', { what: 'its outcome' });
    expect(new Set(receiver.messages.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
  });

  it('is not sent any more once its endpoint is disabled, and says so', async () => {
    const receiver = await scene.receiver();
    receiver.react = () => ({ status: 500 });
    const { id } = await scene.teamEndpoint(receiver.url);
    const loop = await scene.loop();
    await scene.enqueue(scene.notice());
    await scene.advance(loop, 15 * SECOND);
    await scene.scene.execute(webhookEndpointOperations.toggleEnabled, scene.context(), {
      id,
      teamId: scene.teamId,
    });
    await scene.advance(loop, HOUR, MINUTE);
    expect(receiver.messages).to.have.length(1);
    expect((await scene.deliveries(id))[0]).to.include({
      state: 'failed',
      last_error: 'not sent: the endpoint was disabled',
    });
  });
});
