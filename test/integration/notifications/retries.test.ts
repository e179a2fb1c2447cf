/** Deliveries that are tried again: when, for how long, and by which controller. */
import { expect } from 'chai';
import { until } from '../../support/harness/until.ts';
import {
  HOUR,
  idsOf,
  MINUTE,
  SECOND,
  useNotificationScene,
  verifyMessage,
} from '../../support/scenes/notifications.ts';

describe('a notification that is not taken', () => {
  const scene = useNotificationScene();

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
    verifyMessage(secret ?? '', receiver.messages[1], scene.clock.now());
    await scene.advance(loop, MINUTE);
    verifyMessage(secret ?? '', receiver.messages[2], scene.clock.now());
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
    // It never renews, like a process that hangs. Its time is over once it has sent, however long that took.
    const hanging = await scene.lease({ key: 'moving', renewMs: 60_000 });
    await scene.loop({ lease: hanging });
    await scene.enqueue(scene.notice());
    scene.clock.advance(15 * SECOND);
    await until(() => receiver.held === 1, { what: 'the first leader to send' });
    await scene
      .db('leases')
      .where({ key: 'moving' })
      .update({ expires_at: new Date(0) });
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
});
