/** The parts of a controller that nodes ask, on a database of their own, and nodes that SQL has enrolled. */

import { createComponentLists } from '../../../controller/fleet/engines/index.ts';
import {
  createConfigServer,
  createHeartbeatIngest,
  createNodeDirectory,
} from '../../../controller/fleet/index.ts';
import { createLogIngest } from '../../../controller/fleet/logs/index.ts';
import { createRecorder } from '../../../controller/insight/telemetry/index.ts';
import { createWatchedPipelines } from '../../../controller/pipelines/index.ts';
import { createKeyring } from '../../../controller/platform/crypto/keyring.ts';
import { mintToken } from '../../../controller/platform/crypto/tokens.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { type Bus, createBus } from '../../../controller/platform/runtime/bus.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import { QUIET, type TestPlatform } from '../harness/platform.ts';

export interface EnrolledNode {
  nodeId: string;
  environmentId: string;
  tokenId: string;
  token: string;
}

/** An environment without pipelines. */
export async function insertEnvironment({ db }: TestPlatform): Promise<string> {
  const [teamId, environmentId] = [newId(), newId()];
  await db('teams').insert({ id: teamId, name: teamId });
  await db('environments').insert({ id: environmentId, team_id: teamId, name: environmentId });
  return environmentId;
}

export async function insertNodes(
  { db }: TestPlatform,
  environmentId: string,
  count: number,
): Promise<EnrolledNode[]> {
  const nodes = Array.from({ length: count }, () => ({ nodeId: newId(), minted: mintToken('hgn') }));
  await db.raw(
    `INSERT INTO nodes (id, environment_id, name, host, os, token_id, token_hash, enrolled_at)
     SELECT id, ?, id, id, 'linux/x64', token_id, token_hash, now()
     FROM unnest(?::text[], ?::text[], ?::bytea[]) AS b(id, token_id, token_hash)`,
    [
      environmentId,
      nodes.map(({ nodeId }) => nodeId),
      nodes.map(({ minted }) => minted.id),
      nodes.map(({ minted }) => minted.hash),
    ],
  );
  return nodes.map(({ nodeId, minted }) => ({
    ...{ nodeId, environmentId, tokenId: minted.id, token: minted.token },
  }));
}

/** What a controller has for nodes, beginning with an empty memory. */
export async function startFleetParts(
  { db, url }: TestPlatform,
  {
    clock = manualClock(Date.parse('2026-11-23T09:00:00Z')),
    busyPerSecond,
    spread,
    onCaughtUp = () => {},
  }: { clock?: ManualClock; busyPerSecond?: number; spread?: () => number; onCaughtUp?: () => void } = {},
) {
  const log = QUIET;
  const bus: Bus = createBus({ url, log });
  await bus.start();
  const keyring = createKeyring('0123456789abcdef0123456789abcdef');
  const configs = createConfigServer({ db, bus, keyring, log, pushUrl: null });
  const directory = createNodeDirectory({ db, bus, clock });
  const logs = createLogIngest({
    ...{ db, bus, log, clock, knownPipelines: configs.knownPipelines, directory },
  });
  const measures = createRecorder({ db, clock, log });
  const watched = createWatchedPipelines({ bus, clock });
  const heartbeats = createHeartbeatIngest({
    ...{ db, bus, log, directory, configs, logs, measures, watched },
    updates: { onHeartbeat: () => {} },
    components: createComponentLists({ db, log }),
    now: () => clock.now(),
    ...{ busyPerSecond, spread },
    onCaughtUp,
  });
  return {
    bus,
    clock,
    configs,
    directory,
    heartbeats,
    logs,
    measures,
    watched,
    async stop() {
      directory.stop();
      await heartbeats.stop();
      await measures.stop();
      await logs.stop();
      await bus.stop();
    },
  };
}

export type FleetParts = Awaited<ReturnType<typeof startFleetParts>>;

/** The statements that are sent over a pool while `work` runs. */
export async function statementsOf({ db }: TestPlatform, work: () => Promise<unknown>): Promise<string[]> {
  const seen: string[] = [];
  const note = ({ sql }: { sql: string }) => seen.push(sql);
  db.on('query', note);
  try {
    await work();
  } finally {
    db.removeListener('query', note);
  }
  return seen;
}
