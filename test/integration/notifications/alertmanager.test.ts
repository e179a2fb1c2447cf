/** A real Alertmanager: alerts that fire, are repeated before they are forgotten, and end. */
import { expect } from 'chai';
import { endpointDeliveryOperations } from '../../../controller/insight/notifications/index.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { use } from '../../support/harness/use.ts';
import {
  HOUR,
  MINUTE,
  type NotificationScene,
  SECOND,
  useNotificationScene,
} from '../../support/scenes/notifications.ts';
import { findAlertmanager, startAlertmanager } from '../../support/servers/alertmanager.ts';

(findAlertmanager() === null ? describe.skip : describe)('Alertmanager', () => {
  const scene = useNotificationScene();
  const alertmanager = use(startAlertmanager, (one) => one.stop());

  /** Alertmanager has the time of the machine: what ends for it has to end in the past. */
  const startAgo = (ms: number) => {
    scene.clock = manualClock(Date.now() - ms);
  };

  it('gets each alert of a group, and each end of one', async () => {
    startAgo(HOUR);
    const { id } = await scene.teamEndpoint(alertmanager.url, { format: 'alertmanager' });
    const loop = await scene.loop();
    // More than other formats list.
    const nodes = Array.from({ length: 120 }, (_, at) => scene.notice({ nodeName: `edge-${at}` }));
    await scene.enqueue(...nodes);
    await scene.advance(loop, 15 * SECOND);
    expect(await scene.deliveries(id)).to.have.length(1);
    const firing = await alertmanager.alerts();
    expect(firing).to.have.length(120);
    const [first] = firing.filter(({ labels }) => labels.node === 'edge-0');
    expect(first?.labels).to.deep.equal({
      ...{ alertname: 'Node is down', environment: 'production', team: 'Platform' },
      ...{ metric: 'node_unreachable', node: 'edge-0', node_id: 'id-of-edge-0' },
    });
    expect(first?.annotations.summary).to.equal('edge-0 is unreachable for 60 s');
    expect(first?.generatorURL).to.match(/\/alerts\?event=/);
    await scene.enqueue(...nodes.slice(1).map((notice) => scene.resolved(notice)));
    await scene.advance(loop, 15 * SECOND);
    const left = await alertmanager.alerts();
    expect(left.map(({ labels }) => labels.node)).to.deep.equal(['edge-0']);
    await scene.enqueue(...nodes.slice(0, 1).map((notice) => scene.resolved(notice)));
    await scene.advance(loop, 15 * SECOND);
    expect(await alertmanager.alerts()).to.deep.equal([]);
  });

  it('is sent open alerts again every hour, until they end', async () => {
    startAgo(5 * HOUR);
    const { id } = await scene.environmentEndpoint(`${alertmanager.url}/api/v2/alerts`, {
      format: 'alertmanager',
    });
    const loop = await scene.loop();
    const [stays, ends] = [scene.notice({ nodeName: 'stays' }), scene.notice({ nodeName: 'ends' })];
    await scene.enqueue(stays, ends);
    await scene.advance(loop, 55 * MINUTE, MINUTE);
    await scene.enqueue(scene.resolved(ends));
    expect(await alertmanager.alerts(), 'their first end has passed').to.deep.equal([]);
    await scene.advance(loop, 3 * HOUR, MINUTE);
    expect((await alertmanager.alerts()).map(({ labels }) => labels.node)).to.deep.equal(['stays']);
    const repeats = (await scene.deliveries(id)).filter((row) => row.repeats);
    expect(repeats.map(({ state, kind, total }) => `${state} ${kind} ${total}`)).to.deep.equal([
      'delivered firing 1',
      'delivered firing 1',
      'delivered firing 1',
    ]);
    await scene.enqueue(scene.resolved(stays));
    await scene.advance(loop, 2 * HOUR, MINUTE);
    expect((await scene.deliveries(id)).filter((row) => row.repeats)).to.have.length(3);
  });

  it('keeps an alert whose beginning is sent once more after its first end', async () => {
    startAgo(6 * HOUR);
    const { id } = await scene.teamEndpoint(alertmanager.url, { format: 'alertmanager' });
    const loop = await scene.loop();
    await scene.enqueue(scene.notice({ nodeName: 'goes on' }));
    await scene.advance(loop, 5 * HOUR, 30 * MINUTE);
    const firing = async () => (await alertmanager.alerts()).map(({ labels }) => labels.node);
    expect(await firing()).to.include('goes on');
    await redeliverFirst(scene, id);
    await loop.idle();
    expect(await firing()).to.include('goes on');
  });

  it('takes a test, which ends by itself', async () => {
    const { id } = await scene.teamEndpoint(alertmanager.url, { format: 'alertmanager' });
    const outcome = await scene.scene.execute(endpointDeliveryOperations.testDelivery, scene.context(), {
      id,
      teamId: scene.teamId,
    });
    expect(outcome).to.include({ state: 'delivered', responseStatus: 200, kind: 'test', error: null });
    expect((await alertmanager.alerts()).map(({ labels }) => labels.alertname)).to.include('Busy CPU');
  });
});

describe('a delivery to Alertmanager', () => {
  const scene = useNotificationScene();

  it('that is sent once more ends 4 hours from then, and only while all its alerts are open', async () => {
    const receiver = await scene.receiver();
    const { id } = await scene.teamEndpoint(receiver.url, { format: 'alertmanager' });
    const loop = await scene.loop();
    const [stays, ends] = [scene.notice({ nodeName: 'stays' }), scene.notice({ nodeName: 'ends' })];
    await scene.enqueue(stays, ends);
    await scene.advance(loop, 5 * HOUR, 30 * MINUTE);
    await redeliverFirst(scene, id);
    await loop.idle();
    const alerts: { labels: { node: string }; endsAt: string }[] = JSON.parse(
      receiver.messages.at(-1)?.body ?? '[]',
    );
    const end = new Date(scene.clock.now() + 4 * HOUR).toISOString();
    expect(alerts.map(({ labels, endsAt }) => [labels.node, endsAt])).to.deep.equal([
      ['stays', end],
      ['ends', end],
    ]);
    await scene.enqueue(scene.resolved(ends));
    await scene.advance(loop, 15 * SECOND);
    const error = await redeliverFirst(scene, id).catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'PRECONDITION_FAILED' });
  });
});

async function redeliverFirst(scene: NotificationScene, endpointId: string): Promise<void> {
  const [first] = await scene.deliveries(endpointId);
  await scene.scene.execute(endpointDeliveryOperations.redeliver, scene.context(), {
    ...{ deliveryId: first?.id ?? '', teamId: scene.teamId },
  });
}
