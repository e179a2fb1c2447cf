/** Deliveries: grouped, signed, tried again, in order, whatever happens to the receiver and to the controller. */
import { expect } from 'chai';
import {
  type AlertNotice,
  deliverDue,
  webhookEndpointOperations,
} from '../../../controller/insight/notifications/index.ts';
import { createOutgoing, createTargetGuard } from '../../../controller/platform/net/outgoing/index.ts';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import { QUIET } from '../../support/harness/platform.ts';
import { until } from '../../support/harness/until.ts';
import {
  HOUR,
  idsOf,
  MINUTE,
  SECOND,
  useNotificationScene,
  verifyMessage,
} from '../../support/scenes/notifications.ts';

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
    expect(verifyMessage(secret ?? '', message, scene.clock.now())).to.deep.equal({
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

  it('is not sent where its name has come to lead to a private address', async () => {
    const receiver = await scene.receiver();
    const { id } = await scene.teamEndpoint(receiver.url.replace('127.0.0.1', 'localhost'));
    const { services } = scene.scene;
    const before = services.outgoing;
    // Nothing is allowed that is not public: as if the name had another address than when it was saved.
    const guard = createTargetGuard(['127.0.0.2'], QUIET);
    services.outgoing = createOutgoing({ guard, proxies: NO_PROXIES, log: QUIET });
    try {
      const loop = await scene.loop();
      await scene.enqueue(scene.notice());
      await scene.advance(loop, HOUR, MINUTE);
      expect((await scene.deliveries(id))[0]).to.include({ state: 'failed', attempts: 1, last_status: null });
      expect(receiver.messages).to.have.length(0);
    } finally {
      await services.outgoing.close();
      services.outgoing = before;
    }
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

  it('of what is still open goes to an endpoint that is enabled again, once, as its beginning', async () => {
    const receiver = await scene.receiver();
    const { id } = await scene.teamEndpoint(receiver.url, { eventTypes: ['node_unreachable'] });
    const toggle = () =>
      scene.scene.execute(webhookEndpointOperations.toggleEnabled, scene.context(), {
        ...{ id, teamId: scene.teamId },
      });
    const loop = await scene.loop();
    const [before, meanwhile, over] = ['before', 'meanwhile', 'over'].map((eventId) =>
      scene.notice({ eventId }),
    ) as [AlertNotice, AlertNotice, AlertNotice];
    await scene.enqueue(before);
    await scene.advance(loop, 15 * SECOND);
    await toggle();
    scene.clock.advance(MINUTE);
    const others = [
      scene.notice({ eventId: 'of another metric', metric: 'cpu_usage' }),
      ...['acknowledged', 'muted'].map((eventId) => scene.notice({ eventId })),
    ];
    await scene.enqueue(meanwhile, over, ...others);
    await scene.enqueue(scene.resolved(over));
    const event = {
      ...{ environment_id: scene.environmentId, rule_id: 'rule', rule_name: 'Node is down', message: 'm' },
      ...{ metric: 'node_unreachable', condition: 'eq', threshold: 1, duration_seconds: 60 },
      ...{ fired_at: new Date(), opened_at: new Date() },
    };
    await scene.db('alert_events').insert([
      { ...event, id: 'acknowledged', subject: 'a', status: 'acknowledged' },
      { ...event, id: 'muted', subject: 'b', status: 'firing', muted_by: 'maintenance' },
    ]);
    await scene.advance(loop, HOUR);
    expect(idsOf(receiver)).to.deep.equal(['before']);
    await toggle();
    await loop.idle();
    expect(receiver.taken.slice(1).map(({ type, data }) => [type, data.eventId, data.total])).to.deep.equal([
      ['alert.firing', 'meanwhile', undefined],
    ]);
    await toggle();
    await toggle();
    await loop.idle();
    expect(idsOf(receiver), 'no alert twice').to.deep.equal(['before', 'meanwhile']);
    // The second one joins the message of the first, which is older than it.
    await scene.enqueue(scene.notice({ eventId: 'first' }));
    scene.clock.advance(5 * SECOND);
    await scene.enqueue(scene.notice({ eventId: 'joins' }));
    await scene.advance(loop, 15 * SECOND);
    expect(receiver.taken.at(-1)?.data.total).to.equal(2);
    await toggle();
    await toggle();
    await loop.idle();
    expect(idsOf(receiver), 'no joined alert twice').to.deep.equal(['before', 'meanwhile', 'first']);
    await scene.db('alert_events').delete();
  });

  it('is not lost where its endpoint is enabled again while a pass drops what was queued', async () => {
    const receiver = await scene.receiver();
    const { id } = await scene.teamEndpoint(receiver.url);
    const toggle = () =>
      scene.scene.execute(webhookEndpointOperations.toggleEnabled, scene.context(), {
        ...{ id, teamId: scene.teamId },
      });
    await toggle();
    await scene.enqueue(scene.notice({ eventId: 'open' }));
    let fences = 0;
    const fence = async () => {
      fences += 1;
      if (fences === 1) await toggle();
    };
    await deliverDue(scene.context({ fence }), id, { aside: (work) => work() });
    expect(idsOf(receiver)).to.deep.equal(['open']);
    const [delivery, ...others] = await scene.deliveries(id);
    expect(delivery).to.include({ state: 'delivered', last_error: null });
    expect(others).to.deep.equal([]);
  });
});
