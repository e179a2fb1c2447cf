/** A Postgres with a large fleet in it: one environment, five deployed pipelines, and nodes with real tokens. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Database } from '../../controller/database/connect.ts';
import { startEmbeddedPostgres } from '../../controller/database/embedded-postgres.ts';
import { migrateAll } from '../../controller/database/migrate.ts';
import { insertPipeline, insertVersions, markDeployed } from '../../controller/pipelines/store.ts';
import { newId } from '../../controller/platform/ids.ts';
import { mintToken } from '../../controller/platform/tokens.ts';

/** As many as one machine should carry; with fewer, the limit of polls a node and minute would be in the way. */
export const NODES = 20_000;
const PIPELINES = ['web-logs', 'host-metrics', 'orders', 'audit-trail', 'payments'];

export interface BenchNode {
  id: string;
  token: string;
}

export interface BenchFleet {
  /** The controller's database. */
  url: string;
  /** A copy of it, made when asked for, for the bare server. Nobody may be connected to the first one then. */
  copy(): Promise<string>;
  folder: string;
  nodes: BenchNode[];
  pipelineIds: string[];
  remove(): Promise<void>;
}

export async function makeFleet(): Promise<BenchFleet> {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: () => {} });
  const remove = async () => {
    await postgres.stop();
    for (const path of [folder, postgres.location]) rmSync(path, { recursive: true, force: true });
  };
  try {
    await migrateAll(postgres.url);
    const db = connect(postgres.url, { poolSize: 1 });
    const made = await fill(db).finally(() => db.destroy());
    return { url: postgres.url, copy: () => copyOf(postgres.url), folder, ...made, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function copyOf(url: string): Promise<string> {
  const copy = new URL(url);
  const system = new URL(url);
  const original = copy.pathname.slice(1);
  copy.pathname = '/bare';
  system.pathname = '/postgres';
  const db = connect(system.href, { poolSize: 1 });
  await db.raw('CREATE DATABASE bare TEMPLATE ??', [original]).finally(() => db.destroy());
  return copy.href;
}

async function fill(db: Database): Promise<{ nodes: BenchNode[]; pipelineIds: string[] }> {
  const teamId = newId();
  const environmentId = newId();
  await db('teams').insert({ id: teamId, name: 'Bench' });
  await db('environments').insert({ id: environmentId, team_id: teamId, name: 'bench' });
  const pipelineIds: string[] = [];
  for (const name of PIPELINES) pipelineIds.push(await addPipeline(db, environmentId, name));
  const nodes = Array.from({ length: NODES }, () => ({ id: newId(), ...mintNodeToken() }));
  await db.raw(
    `INSERT INTO nodes (id, environment_id, name, host, os, token_id, token_hash, enrolled_at)
     SELECT id, ?, 'node-' || ordinal, 'node-' || ordinal, 'linux/x64', token_id, token_hash, now()
     FROM unnest(?::text[], ?::text[], ?::bytea[]) WITH ORDINALITY AS b(id, token_id, token_hash, ordinal)`,
    [
      environmentId,
      nodes.map((node) => node.id),
      nodes.map((node) => node.tokenId),
      nodes.map((node) => node.hash),
    ],
  );
  await db.raw('ANALYZE nodes');
  return { nodes: nodes.map(({ id, token }) => ({ id, token })), pipelineIds };
}

function mintNodeToken(): { tokenId: string; token: string; hash: Buffer } {
  const { id, token, hash } = mintToken('hgn');
  return { tokenId: id, token, hash };
}

async function addPipeline(db: Database, environmentId: string, name: string): Promise<string> {
  const common = { nodeSelector: null, logLevel: 'info' as const, nodes: [], edges: [], globalConfig: {} };
  const id = await insertPipeline(db, environmentId, {
    ...common,
    name,
    description: null,
    labels: {},
    dependsOn: [],
  });
  const versionId = newId();
  await insertVersions(db, [
    {
      ...common,
      id: versionId,
      pipelineId: id,
      version: 1,
      configYaml: engineConfig(name),
      specHash: null,
      changelog: null,
      source: 'ui',
      createdById: null,
      commit: null,
    },
  ]);
  await markDeployed(db, id, versionId);
  return id;
}

const engineConfig = (name: string) => `sources:
  ${name}_in:
    type: file
    include: [/var/log/${name}/*.log]
transforms:
  ${name}_parse:
    type: remap
    inputs: [${name}_in]
    source: |
      . = parse_json!(.message)
      .service = "${name}"
      if .level == "debug" { abort }
sinks:
  ${name}_out:
    type: http
    inputs: [${name}_parse]
    uri: https://logs.example.org/${name}
    encoding: { codec: json }
    batch: { max_events: 1000, timeout_secs: 2 }
`;
