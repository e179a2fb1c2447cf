/** One evaluation of alert rules over 10,000 series, and what it queues: how long it takes, and holds the event loop. */
import type { Knex } from 'knex';
import { connect } from '../../../controller/database/connect.ts';
import { createSnapshots } from '../../../controller/fleet/status/index.ts';
import { createCounterWindows, evaluateAlerts } from '../../../controller/insight/alerts/index.ts';
import { type AlertNotice, enqueueNotices } from '../../../controller/insight/notifications/index.ts';
import type { Context, Services } from '../../../controller/platform/operation/context.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { createBus } from '../../../controller/platform/runtime/bus.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { systemClock } from '../../../reconcilers/loops/clock.ts';
import { writeLargeFleet } from '../../support/scenes/large-fleet.ts';
import { makeFleet } from '../fleet.ts';
import { ms, type Result, type Say, whole } from '../result.ts';

const NODES = 1_000;
const PIPELINES = 10;
const PASSES = 10;
const ENDPOINTS = 3;
const QUIET = createLogger('silent');

export async function alerts(say: Say): Promise<Result[]> {
  const fleet = await makeFleet({ nodes: 10 });
  const db = connect(fleet.url, { poolSize: 4 });
  const bus = createBus({ url: fleet.url, log: QUIET });
  const statuses = createSnapshots({ bus, clock: systemClock });
  try {
    const { team_id: teamId } = (await db('environments').first('team_id'))!;
    const environmentId = newId();
    await db('environments').insert({ id: environmentId, team_id: teamId, name: 'alerts' });
    await writeLargeFleet(db, { environmentId, nodes: NODES, pipelines: PIPELINES });
    await db.raw('VACUUM ANALYZE');
    const services = { bus, statuses, listeningSince: () => 0 } as unknown as Services;
    const ctx: Context = {
      ...{ db, clock: systemClock, log: QUIET, services, actor: { type: 'system', name: 'bench' } },
      ...{ signal: AbortSignal.timeout(600_000), requestId: 'bench', ipAddress: null },
    };
    const windows = createCounterWindows();
    let notices = 0;
    const count = async (_: Context, sent: readonly AlertNotice[]) => {
      notices += sent.length;
    };
    const evaluateWith = (notify: typeof enqueueNotices) => async () => {
      statuses.drop();
      return evaluateAlerts(ctx, environmentId, { windows, notify });
    };
    const evaluate = evaluateWith(count as typeof enqueueNotices);
    const series = `${whole(NODES * PIPELINES)} series`;
    say(`alerts: rules over ${series} …`);
    await insertRule(db, environmentId, { metric: 'pipeline_crashed', condition: 'eq', threshold: 1 });
    const calm = await measure(evaluate, PASSES);
    await insertRule(db, environmentId, { metric: 'pipeline_crashed', condition: 'lt', threshold: 2 });
    const storm = await measure(evaluate, 1);
    const burning = await measure(evaluate, PASSES);
    for (let at = 0; at < ENDPOINTS; at += 1)
      await db('webhook_endpoints').insert({
        ...{ id: newId(), environment_id: environmentId, name: `endpoint ${at}`, sealed_url: 'x' },
      });
    await insertRule(db, environmentId, { metric: 'pipeline_crashed', condition: 'lt', threshold: 3 });
    const queued = await measure(evaluateWith(enqueueNotices), 1);
    return [
      result(`one evaluation over ${series}, of which one fires`, calm),
      result(`all ${whole(notices)} fire at once`, storm),
      result(`all of them are open`, burning),
      result(`another rule fires for all of them at once, queued for ${ENDPOINTS} endpoints`, queued),
    ];
  } finally {
    statuses.stop();
    await db.destroy();
    await fleet.remove();
  }
}

const insertRule = (
  db: Knex,
  environmentId: string,
  rule: { metric: string; condition: 'eq' | 'lt'; threshold: number },
) =>
  db('alert_rules').insert({
    ...{ id: newId(), environment_id: environmentId, name: newId(), duration_seconds: 0, ...rule },
  });

interface Measured {
  longestMs: number;
  heldMs: number;
}

/** The event loop is held for as long as a timer of a millisecond comes late. */
async function measure(work: () => Promise<unknown>, times: number): Promise<Measured> {
  let [longestMs, heldMs] = [0, 0];
  let last = performance.now();
  const timer = setInterval(() => {
    heldMs = Math.max(heldMs, performance.now() - last);
    last = performance.now();
  }, 1);
  for (let time = 0; time < times; time += 1) {
    const startedAt = performance.now();
    await work();
    longestMs = Math.max(longestMs, performance.now() - startedAt);
  }
  clearInterval(timer);
  return { longestMs, heldMs };
}

const result = (what: string, { longestMs, heldMs }: Measured): Result => ({
  ...{ what: `alert rules: ${what}`, goal: '< 1 s, event loop never held > 50 ms' },
  measured: `longest ${ms(longestMs)}; the event loop is held for ${ms(heldMs)} at most`,
  ok: longestMs < 1_000 && heldMs < 50,
});
