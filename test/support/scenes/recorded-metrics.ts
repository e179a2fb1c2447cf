/** Metrics of the last hours, as the recorder makes them of heartbeats. */
import type { Knex } from 'knex';
import { createRecorder, type MinuteStore } from '../../../controller/insight/telemetry/index.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { enrollNode } from '../agents/agent-client.ts';
import { QUIET } from '../harness/platform.ts';
import type { TwoTeams } from './two-teams.ts';

export interface Flow {
  nodeId: string;
  environmentId: string;
  pipelineId: string;
  /** Per second. Half of the events go out, with a tenth of the bytes; an event has 100 bytes. */
  eventsPerSecond: number;
}

export interface History {
  /** Minutes before the end of the last whole minute. */
  minutes: number;
  /** Seconds between heartbeats. */
  every?: number;
  /** Whether a heartbeat is missing, by minutes before the end. */
  isSilent?: (minutesAgo: number) => boolean;
  /** Engines that end, by minutes before the end. */
  exitsAt?: readonly number[];
  /** Postgres unless another one is given. */
  store?: MinuteStore;
}

/** The end of the last whole minute, in milliseconds since 1970. */
export const lastMinute = (now = Date.now()): number => Math.floor(now / 60_000) * 60_000;

/** Each flow is on one node, which reports to nobody else. Hosts are busy by a quarter. */
export async function recordHistory(db: Knex, flows: readonly Flow[], history: History): Promise<void> {
  const { minutes, every = 30, isSilent = () => false, exitsAt = [], store } = history;
  const end = lastMinute();
  const start = end - minutes * 60_000;
  const clock = manualClock(start);
  const recorder = createRecorder({ db, minutes: store, clock, log: QUIET });
  let [restarts, pid, upSince] = [0, 1, start];
  for (let at = start; at <= end; at += every * 1_000) {
    clock.advance(at - clock.now());
    const minutesAgo = (end - at) / 60_000;
    if (exitsAt.includes(minutesAgo)) [restarts, pid, upSince] = [restarts + 1, pid + 1, at];
    if (isSilent(minutesAgo)) continue;
    const up = (at - upSince) / 1_000;
    const since = (at - start) / 1_000;
    for (const { nodeId, environmentId, pipelineId, eventsPerSecond } of flows) {
      const events = up * eventsPerSecond;
      const counted = { in: events, errors: 0 };
      recorder.observe(
        { nodeId, environmentId },
        at,
        new Map([
          [
            pipelineId,
            {
              at,
              row: {
                ...{ version: 1, pid, uptimeSeconds: up, restarts, eventsIn: events, eventsOut: events / 2 },
                ...{ bytesIn: events * 100, bytesOut: events * 10, errorsTotal: 0, eventsDiscarded: 0 },
                ...{ utilization: 0.5, latencyMs: 2 },
                components: [
                  { id: 'in', kind: 'source', ...counted, out: events },
                  {
                    id: 'parse',
                    kind: 'transform',
                    ...counted,
                    out: events / 2,
                    latency: 0.002,
                    utilization: 0.5,
                  },
                  {
                    id: 'out',
                    kind: 'sink',
                    ...counted,
                    in: events / 2,
                    out: events / 2,
                  },
                ],
                componentBytes: [
                  [events * 100, events * 100],
                  [events * 100, 0],
                  [events * 100, events * 10],
                ] as [number, number][],
              },
            },
          ],
        ]),
        {
          ...{
            cpuSecondsTotal: since * 4,
            cpuSecondsIdle: since * 3,
            memoryUsedBytes: 4e9,
            memoryTotalBytes: 8e9,
          },
          ...{ loadAvg1: 0.5, netRxBytes: since * 1_000, diskReadBytes: since * 10 },
        },
      );
    }
    if (minutesAgo % 30 === 0) await recorder.flush();
  }
  await recorder.stop();
}

/** A node that never reports. */
export async function silentNode(
  { admin }: Pick<TwoTeams, 'admin'>,
  url: string,
  environmentId: string,
  hostname: string,
): Promise<string> {
  const { token } = await admin.mutate<{ token: string }>('environment.generateEnrollmentToken', {
    environmentId,
  });
  return (await enrollNode(url, token, { hostname })).nodeId;
}
