/** Stores readings as points of minutes and hours: one transaction, with a fixed number of statements for any number of nodes. */
import type { Knex } from 'knex';
import { retryOnDeadlock } from '../../../database/retry.ts';
import { type Column, rowsOf } from '../../../database/unnest.ts';
import type { MinuteStore } from '../minutes/minute-store.ts';
import { growthOf, isOld } from './growth.ts';
import type { HostMinute } from './host-meter.ts';
import { type Grown, writeHours } from './points-store.ts';
import type { Base, Reading } from './reading.ts';

export interface NodeReadings {
  nodeId: string;
  environmentId: string;
  /** Oldest first. */
  readings: readonly { pipelineId: string; reading: Reading }[];
  hostMinutes: readonly HostMinute[];
}

/** `pointAt` is the minute of the last point: a node is counted once in each minute. */
export type StoredBase = Base & { pointAt: number | null };

/** The last stored readings that this controller knows of. Another controller may have stored newer ones. */
export interface KnownBases {
  get(nodeId: string, pipelineId: string): StoredBase | undefined;
}

export interface StoredReadings {
  /** By node and pipeline, what is stored now. */
  bases: readonly NewBase[];
  /** Readings whose base another controller has replaced: they are to be stored again, from the new one. */
  stale: readonly SeriesReadings[];
}

/**
 * Several controllers may store readings of one node, and each reading is counted from the last one that any of them has
 * stored: a base is replaced only if it is still the one that was counted from. Skips nodes that are deleted.
 */
export async function storeReadings(
  db: Knex,
  minutes: Pick<MinuteStore, 'write' | 'prepare' | 'committed'>,
  nodes: readonly NodeReadings[],
  known: KnownBases,
  now: number,
): Promise<StoredReadings> {
  // Controllers that store readings of the same nodes may lock their rows in different orders.
  const store = () => retryOnDeadlock(() => db.transaction((tx) => storeIn(tx, minutes, nodes, known, now)));
  const { grown, ...stored } = await store().catch(async (error: unknown) => {
    if (!(await minutes.prepare(db, nodes, error))) throw error;
    return store();
  });
  minutes.committed(grown, nodes);
  return stored;
}

export interface SeriesReadings {
  nodeId: string;
  environmentId: string;
  pipelineId: string;
  readings: readonly Reading[];
}

async function storeIn(
  tx: Knex,
  minutes: Pick<MinuteStore, 'write'>,
  nodes: readonly NodeReadings[],
  known: KnownBases,
  now: number,
): Promise<StoredReadings & { grown: Grown[] }> {
  const all = nodes.flatMap(({ nodeId, environmentId, readings }) =>
    [...Map.groupBy(readings, ({ pipelineId }) => pipelineId)].map(([pipelineId, own]): SeriesReadings => {
      const inOrder = own.map(({ reading }) => reading);
      return { nodeId, environmentId, pipelineId, readings: inOrder };
    }),
  );
  const found = await readBases(
    tx,
    all.filter(({ nodeId, pipelineId }) => !known.get(nodeId, pipelineId)),
  );
  const changes = all.map((series) => {
    const { nodeId, pipelineId } = series;
    return changeOf(series, known.get(nodeId, pipelineId) ?? found.get(keyOf(series)) ?? null, now);
  });
  const isChanged = ({ base }: Change) => base !== null;
  const first = changes.filter((change) => isChanged(change) && change.before === null);
  const next = changes.filter((change) => isChanged(change) && change.before !== null);
  const written = new Set([...(await insertBases(tx, first)), ...(await replaceBases(tx, next))]);
  const stored = [...first, ...next].filter(({ series }) => written.has(keyOf(series)));
  const grown = stored.flatMap(({ series, grown }) =>
    grown.map(({ reading, growth, isCounted }): Grown => ({ ...series, reading, growth, isCounted })),
  );
  await minutes.write(tx, grown, nodes);
  await writeHours(tx, grown);
  return {
    grown,
    bases: stored.flatMap(({ series, base }) =>
      base ? [{ nodeId: series.nodeId, pipelineId: series.pipelineId, base }] : [],
    ),
    stale: next.filter(({ series }) => !written.has(keyOf(series))).map(({ series }) => series),
  };
}

const keyOf = ({ nodeId, pipelineId }: { nodeId: string; pipelineId: string }): string =>
  `${nodeId} ${pipelineId}`;

interface Change {
  series: SeriesReadings;
  before: StoredBase | null;
  /** Null if no reading is newer than the one before. */
  base: StoredBase | null;
  /** `isCounted`: whether the node was counted in that minute before. */
  grown: Pick<Grown, 'reading' | 'growth' | 'isCounted'>[];
}

function changeOf(series: SeriesReadings, before: StoredBase | null, now: number): Change {
  const grown: Change['grown'] = [];
  let base: StoredBase | null = null;
  for (const reading of series.readings) {
    const last: StoredBase | null = base ?? before;
    if (last && isOld(last, reading, now)) continue;
    const growth = growthOf(last, reading, now);
    const pointAt: number | null = growth?.minute.start ?? last?.pointAt ?? null;
    if (growth) grown.push({ reading, growth, isCounted: last?.pointAt === growth.minute.start });
    base = { ...baseOf(reading, last), pointAt };
  }
  return { series, before, base, grown };
}

const seriesColumns = (series: readonly { nodeId: string; pipelineId: string }[]): Column[] => [
  ['node_id', 'text', series.map(({ nodeId }) => nodeId)],
  ['pipeline_id', 'text', series.map(({ pipelineId }) => pipelineId)],
];

async function readBases(tx: Knex, series: readonly SeriesReadings[]): Promise<Map<string, StoredBase>> {
  if (series.length === 0) return new Map();
  const batch = rowsOf(seriesColumns(series));
  const { rows } = await tx.raw<{ rows: { nodeId: string; pipelineId: string; reading: StoredBase }[] }>(
    `SELECT r.node_id AS "nodeId", r.pipeline_id AS "pipelineId", r.reading
     FROM series_readings r JOIN ${batch.source} USING (node_id, pipeline_id)`,
    batch.values,
  );
  return new Map(rows.map((row) => [keyOf(row), row.reading]));
}

/** Returns the series that were written: of nodes that are there, and whose first reading no other controller has stored. */
async function insertBases(tx: Knex, changes: readonly Change[]): Promise<string[]> {
  if (changes.length === 0) return [];
  const batch = rowsOf(baseColumns(changes));
  const { rows } = await tx.raw<{ rows: { nodeId: string; pipelineId: string }[] }>(
    `INSERT INTO series_readings (node_id, pipeline_id, read_at, reading)
     SELECT b.node_id, b.pipeline_id, b.read_at, b.reading::jsonb
     FROM ${batch.source} JOIN nodes n ON n.id = b.node_id ORDER BY b.node_id, b.pipeline_id
     ON CONFLICT DO NOTHING RETURNING node_id AS "nodeId", pipeline_id AS "pipelineId"`,
    batch.values,
  );
  return rows.map(keyOf);
}

/** Returns the series that were written: those whose base is still the one before. */
async function replaceBases(tx: Knex, changes: readonly Change[]): Promise<string[]> {
  if (changes.length === 0) return [];
  const batch = rowsOf([
    ...baseColumns(changes),
    ['before', 'timestamptz', changes.map(({ before }) => new Date(before?.at ?? 0))],
  ]);
  const { rows } = await tx.raw<{ rows: { nodeId: string; pipelineId: string }[] }>(
    `UPDATE series_readings r SET read_at = b.read_at, reading = b.reading::jsonb FROM ${batch.source}
     WHERE r.node_id = b.node_id AND r.pipeline_id = b.pipeline_id AND r.read_at = b.before
     RETURNING r.node_id AS "nodeId", r.pipeline_id AS "pipelineId"`,
    batch.values,
  );
  return rows.map(keyOf);
}

const baseColumns = (changes: readonly Change[]): Column[] => [
  ...seriesColumns(changes.map(({ series }) => series)),
  ['read_at', 'timestamptz', changes.map(({ base }) => new Date(base?.at ?? 0))],
  ['reading', 'jsonb', changes.map(({ base }) => JSON.stringify(base))],
];

/** An engine that is down has neither pid nor uptime: the next one is recognized by those of the last that had. */
const baseOf = (reading: Reading, before: Base | null): Base => {
  const { at, version, restarts, counters, components } = reading;
  const isDown = reading.pid === null && before?.version === version;
  const pid = isDown ? before.pid : reading.pid;
  const uptimeSeconds = reading.uptimeSeconds ?? (isDown ? before.uptimeSeconds : null);
  return { at, version, pid, uptimeSeconds, restarts, counters, components };
};

interface NewBase {
  nodeId: string;
  pipelineId: string;
  base: StoredBase;
}

/** Bases of series that nobody has reported for long. */
export async function deleteReadingsBefore(db: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `DELETE FROM series_readings WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM series_readings WHERE read_at < ? LIMIT ?))`,
    [before, limit],
  );
  return rowCount;
}

export async function deleteHoursBefore(db: Knex, before: Date, limit: number): Promise<number> {
  let deleted = 0;
  for (const table of ['pipeline_hours', 'sink_hours']) {
    const { rowCount } = await db.raw<{ rowCount: number }>(
      `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE hour < ? LIMIT ?))`,
      [before, limit - deleted],
    );
    deleted += rowCount;
  }
  return deleted;
}
