/** A team with an environment whose alerts are sent, by loops that a test starts, on a clock that it moves. */
import { setImmediate as settled } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { insertEnvironment } from '../../../controller/fleet/environments/store.ts';
import { insertTeam } from '../../../controller/identity/teams/store.ts';
import {
  type AlertNotice,
  alertWebhookOperations,
  enqueueNotices,
  webhookEndpointOperations,
} from '../../../controller/insight/notifications/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { createLease, type Lease } from '../../../controller/platform/runtime/lease.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import {
  createNotificationReconciler,
  type NotificationReconciler,
} from '../../../reconcilers/notifications/index.ts';
import type { CreatedWebhookEndpoint, WebhookEndpoint } from '../../../schemas/api/insight/notifications.ts';
import { ALERT_METRICS } from '../../../schemas/manifests/alert-rule.ts';
import { QUIET } from '../harness/platform.ts';
import { use } from '../harness/use.ts';
import { type ReceivedMessage, WebhookReceiver } from '../servers/webhook-receiver.ts';
import { ReconcileScene } from './reconcile.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** Of the first alert of each message. */
export const idsOf = (receiver: WebhookReceiver) => receiver.taken.map(({ data }) => data.eventId);

/** @throws where the message is not signed with the secret at that time */
export function verifyMessage(secret: string, message: ReceivedMessage | undefined, at: number): unknown {
  const now = Date.now;
  // The library reads the time of the machine.
  Date.now = () => at;
  try {
    return new Webhook(secret).verify(message?.body ?? '', message?.headers as Record<string, string>);
  } finally {
    Date.now = now;
  }
}

export interface NoticeOptions extends Partial<AlertNotice> {
  nodeName?: string;
}

export class NotificationScene {
  readonly scene: ReconcileScene;
  readonly teamId: string;
  readonly environmentId: string;
  clock: ManualClock = manualClock(Date.now());
  #receivers: WebhookReceiver[] = [];
  #stops: (() => Promise<void>)[] = [];
  #leases = 0;

  private constructor(scene: ReconcileScene, teamId: string, environmentId: string) {
    this.scene = scene;
    this.teamId = teamId;
    this.environmentId = environmentId;
  }

  static async open(): Promise<NotificationScene> {
    const scene = await ReconcileScene.open();
    const teamId = await insertTeam(scene.db, 'Platform');
    const environmentId = await insertEnvironment(scene.db, { name: 'production', teamId });
    return new NotificationScene(scene, teamId, environmentId);
  }

  get db() {
    return this.scene.db;
  }

  context(more: Partial<Context> = {}): Context {
    return this.scene.context(this.environmentId, {
      actor: { type: 'system', name: 'test' },
      clock: this.clock,
      ...more,
    });
  }

  async receiver(): Promise<WebhookReceiver> {
    const receiver = await WebhookReceiver.start();
    this.#receivers.push(receiver);
    return receiver;
  }

  /** One of the team, for all metrics. */
  teamEndpoint(url: string, more: object = {}): Promise<CreatedWebhookEndpoint> {
    return this.scene.execute(webhookEndpointOperations.create, this.context(), {
      ...{ teamId: this.teamId, name: `endpoint ${newId()}`, url, eventTypes: [...ALERT_METRICS] },
      ...more,
    });
  }

  environmentEndpoint(url: string, more: object = {}): Promise<WebhookEndpoint> {
    return this.scene.execute(alertWebhookOperations.createWebhook, this.context(), {
      ...{ environmentId: this.environmentId, url },
      ...more,
    });
  }

  notice({ nodeName, ...more }: NoticeOptions = {}): AlertNotice {
    const at = new Date(this.clock.now());
    const name = nodeName ?? 'edge-1';
    return {
      ...{ eventId: newId(), status: 'firing', at, firedAt: at, ruleId: 'rule', ruleName: 'Node is down' },
      ...{ metric: 'node_unreachable', condition: 'eq', threshold: 1, durationSeconds: 60, value: 1 },
      environment: { id: this.environmentId, name: 'production' },
      team: { id: this.teamId, name: 'Platform' },
      node: { id: `id-of-${name}`, name, labels: { site: 'berlin' } },
      pipeline: null,
      message: `${name} is unreachable for 60 s`,
      ...more,
    };
  }

  resolved(notice: AlertNotice): AlertNotice {
    return { ...notice, status: 'resolved', at: new Date(this.clock.now()), value: 0 };
  }

  /** As the evaluation of rules does: in its transaction. */
  async enqueue(...notices: AlertNotice[]): Promise<void> {
    await this.db.transaction((db) => enqueueNotices({ ...this.context(), db }, notices));
    // The signal takes effect just after the commit.
    await settled();
  }

  /** A loop under a lease of its own unless it is given one. `idle` waits until nothing is due. */
  async loop(options: { lease?: Lease; idle?: false } = {}): Promise<NotificationReconciler> {
    const lease = options.lease ?? (await this.lease());
    const loop = createNotificationReconciler({
      ...{ db: this.db, clock: this.clock, log: QUIET, services: this.scene.services, lease },
      random: () => 1,
    });
    this.#stops.push(() => loop.stop());
    await loop.start();
    if (options.idle !== false) await loop.idle();
    return loop;
  }

  /** Held until it is given back, on a slow machine too, unless a case says for how long. */
  async lease(options: { key?: string; ttlMs?: number; renewMs?: number } = {}): Promise<Lease> {
    this.#leases += 1;
    const key = `lease ${this.#leases}`;
    const lease = createLease({ db: this.db, key, ttlMs: MINUTE, log: QUIET, ...options });
    await lease.start();
    this.#stops.push(() => lease.stop());
    return lease;
  }

  /** Moves the clock in steps, and waits each time until nothing is due. */
  async advance(loop: NotificationReconciler, ms: number, stepMs = ms): Promise<void> {
    for (let moved = 0; moved < ms; moved += stepMs) {
      this.clock.advance(Math.min(stepMs, ms - moved));
      await loop.idle();
    }
  }

  deliveries(endpointId: string) {
    return this.db('notification_deliveries').where({ endpoint_id: endpointId }).orderBy('seq');
  }

  /** For the next case: no loop, no endpoint, nothing open. */
  async reset(): Promise<void> {
    for (const receiver of this.#receivers) receiver.release();
    for (const stop of this.#stops.splice(0).reverse()) await stop();
    for (const receiver of this.#receivers.splice(0)) await receiver.close();
    await this.db('webhook_endpoints').delete();
    await this.db('notification_open_events').delete();
    this.clock = manualClock(Date.now());
  }

  async close(): Promise<void> {
    await this.reset();
    await this.scene.services.outgoing.close();
    await this.scene.close();
  }
}

export const useNotificationScene = (): NotificationScene => {
  const scene = use(
    () => NotificationScene.open(),
    (one) => one.close(),
  );
  afterEach(() => scene.reset());
  return scene;
};
