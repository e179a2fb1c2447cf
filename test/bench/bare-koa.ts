/**
 * The smallest programs that do the same work as the agent endpoints: what a controller costs above these is ours.
 * `config` sends the bytes of the file BARE_BODY, with an entity tag; `heartbeat` parses the body, keeps the newest of
 * each node, and upserts all that wait once a second into the same tables.
 */
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import pg from 'pg';
import type { HeartbeatRequest, PipelineReport } from '../../schemas/agent/protocol.ts';

const app = new Koa();
const route = process.argv[2];
if (route === 'config') serveConfig(readFileSync(process.env.BARE_BODY ?? '', 'utf8'));
else await storeHeartbeats(new pg.Pool({ connectionString: process.env.BARE_DATABASE_URL, max: 2 }));

const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
process.once('SIGTERM', () => process.exit(0));

function serveConfig(body: string): void {
  const etag = '"bare"';
  app.use((ctx) => {
    ctx.set('ETag', etag);
    if (ctx.req.headers['if-none-match'] === etag) {
      ctx.status = 304;
      return;
    }
    ctx.type = 'json';
    ctx.body = body;
  });
}

interface Beat {
  nodeId: string;
  at: Date;
  body: HeartbeatRequest;
}

async function storeHeartbeats(pool: pg.Pool): Promise<void> {
  pool.on('error', () => {});
  const { rows } = await pool.query<{ id: string; token_id: string }>('SELECT id, token_id FROM nodes');
  const nodes = new Map(rows.map((row) => [row.token_id, row.id]));
  const waiting = new Map<string, Beat>();
  let writing = Promise.resolve();
  setInterval(() => {
    writing = writing.then(async () => {
      const batch = [...waiting.values()];
      waiting.clear();
      for (let first = 0; first < batch.length; first += 4_000)
        await write(pool, batch.slice(first, first + 4_000));
    });
  }, 1_000);
  app.use(async (ctx) => {
    // Bearer hgn_<26 characters>_<secret>
    const nodeId = nodes.get(ctx.req.headers.authorization?.slice(11, 37) ?? '');
    if (nodeId === undefined) return ctx.throw(401);
    const chunks: Buffer[] = [];
    for await (const chunk of ctx.req as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as HeartbeatRequest;
    waiting.set(nodeId, { nodeId, at: new Date(), body });
    ctx.body = { ok: true, configRevision: 1 };
  });
}

async function write(pool: pg.Pool, batch: readonly Beat[]): Promise<void> {
  const of = (pick: (body: HeartbeatRequest) => unknown) => batch.map((beat) => pick(beat.body) ?? null);
  await pool.query(
    `INSERT INTO node_reports (node_id, reported_at, agent_version, engine_version, deployment_mode, agent_labels,
       host_metrics, agent_health, running_as)
     SELECT n, t, a, e, d, l::jsonb, h::jsonb, g::jsonb, r
     FROM unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
       $9::text[]) AS b(n, t, a, e, d, l, h, g, r)
     ON CONFLICT (node_id) DO UPDATE SET reported_at = excluded.reported_at, agent_version = excluded.agent_version,
       engine_version = excluded.engine_version, deployment_mode = excluded.deployment_mode,
       agent_labels = excluded.agent_labels, host_metrics = excluded.host_metrics,
       agent_health = excluded.agent_health, running_as = excluded.running_as`,
    [
      batch.map((beat) => beat.nodeId),
      batch.map((beat) => beat.at),
      of((body) => body.agentVersion),
      of((body) => body.engineVersion),
      of((body) => body.deploymentMode),
      of((body) => JSON.stringify(body.labels)),
      of((body) => JSON.stringify(body.hostMetrics)),
      of((body) => JSON.stringify(body.agentHealth)),
      of((body) => body.runningAs),
    ],
  );
  const rows = batch.flatMap((beat) => beat.body.pipelines.map((row) => ({ beat, row })));
  const pick = (column: (row: PipelineReport) => unknown) => rows.map(({ row }) => column(row) ?? null);
  await pool.query(
    `INSERT INTO node_pipelines AS s (node_id, pipeline_id, version, status, pid, uptime_seconds, events_in, events_out,
       bytes_in, bytes_out, errors_total, events_discarded, utilization, config_checksum, restarts, last_error,
       components, status_since, reported_at)
     SELECT n, p, v, s, i, u, ei, eo, bi, bo, er, ed, ut, c, r, le, m::jsonb, t, t
     FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::integer[], $6::float8[], $7::float8[],
       $8::float8[], $9::float8[], $10::float8[], $11::float8[], $12::float8[], $13::float8[], $14::text[],
       $15::integer[], $16::text[], $17::text[], $18::timestamptz[])
       AS b(n, p, v, s, i, u, ei, eo, bi, bo, er, ed, ut, c, r, le, m, t)
     ON CONFLICT (node_id, pipeline_id) DO UPDATE SET version = excluded.version, status = excluded.status,
       pid = excluded.pid, uptime_seconds = excluded.uptime_seconds, events_in = excluded.events_in,
       events_out = excluded.events_out, bytes_in = excluded.bytes_in, bytes_out = excluded.bytes_out,
       errors_total = excluded.errors_total, events_discarded = excluded.events_discarded,
       utilization = excluded.utilization, config_checksum = excluded.config_checksum,
       restarts = excluded.restarts, last_error = excluded.last_error, components = excluded.components,
       reported_at = excluded.reported_at`,
    [
      rows.map(({ beat }) => beat.nodeId),
      pick((row) => row.pipelineId),
      pick((row) => row.version),
      pick((row) => row.status),
      pick((row) => row.pid),
      pick((row) => row.uptimeSeconds),
      pick((row) => row.eventsIn),
      pick((row) => row.eventsOut),
      pick((row) => row.bytesIn),
      pick((row) => row.bytesOut),
      pick((row) => row.errorsTotal),
      pick((row) => row.eventsDiscarded),
      pick((row) => row.utilization),
      pick((row) => row.configChecksum),
      pick((row) => row.restarts),
      pick((row) => row.lastError),
      pick((row) => JSON.stringify(row.componentMetrics)),
      rows.map(({ beat }) => beat.at),
    ],
  );
}
