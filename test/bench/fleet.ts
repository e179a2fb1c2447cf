/** A Postgres with a large fleet in it: environments of five deployed pipelines each, and nodes with real tokens. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../controller/database/connect.ts';
import { startEmbeddedPostgres } from '../../controller/database/embedded/embedded-postgres.ts';
import { clusterDir } from '../../controller/database/embedded/location.ts';
import { readPidFile, stopPostmaster } from '../../controller/database/embedded/postmaster.ts';
import { migrateAll } from '../../controller/database/migrate.ts';
import { insertPipeline, updatePipeline } from '../../controller/pipelines/lifecycle/store.ts';
import { insertVersions } from '../../controller/pipelines/lifecycle/versions-store.ts';
import { mintToken } from '../../controller/platform/crypto/tokens.ts';
import { newId } from '../../controller/platform/operation/ids.ts';
import type { TestDb } from '../support/harness/test-db.ts';

/** As many as one machine should carry; with fewer, the limit of polls a node and minute would be in the way. */
export const NODES = 20_000;
const PIPELINES = ['web-logs', 'host-metrics', 'orders', 'audit-trail', 'payments'];

export interface BenchNode {
  id: string;
  token: string;
  environment: BenchEnvironment;
}

export interface BenchEnvironment {
  id: string;
  name: string;
  pipelineIds: string[];
}

export interface FleetSize {
  nodes?: number;
  /** The nodes are spread over them. */
  environments?: number;
}

export interface BenchFleet {
  /** The controller's database. */
  url: string;
  /** A copy of it, made when asked for, for the bare server. Nobody may be connected to the first one then. */
  copy(): Promise<string>;
  folder: string;
  /** A controller that is started on it without a database of its own adopts this Postgres, and stops it at its end. */
  dataDir: string;
  /** The folder of the cluster itself. */
  cluster: string;
  nodes: BenchNode[];
  environments: BenchEnvironment[];
  remove(): Promise<void>;
}

export async function makeFleet(size: FleetSize = {}): Promise<BenchFleet> {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  // Postgres' own user passes through, where root runs this.
  chmodSync(folder, 0o711);
  const dataDir = join(folder, 'postgres');
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} });
  const cluster = clusterDir({ dir: postgres.location });
  const remove = async () => {
    const file = await readPidFile(cluster);
    if (file) await stopPostmaster(file.pid, cluster);
    for (const path of [folder, postgres.location]) rmSync(path, { recursive: true, force: true });
  };
  try {
    await migrateAll(postgres.url);
    const db = connect(postgres.url, { poolSize: 1 });
    const made = await fill(db, size).finally(() => db.destroy());
    const { url } = postgres;
    return { url, copy: () => copyOf(url), folder, dataDir, cluster, ...made, remove };
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

async function fill(
  db: TestDb,
  { nodes: count = NODES, environments: spread = 1 }: FleetSize,
): Promise<{ nodes: BenchNode[]; environments: BenchEnvironment[] }> {
  const teamId = newId();
  await db('teams').insert({ id: teamId, name: 'Bench' });
  const environments: BenchEnvironment[] = [];
  for (let made = 0; made < spread; made += 1) {
    const environment = { id: newId(), name: `bench-${made + 1}`, pipelineIds: [] as string[] };
    await db('environments').insert({ id: environment.id, team_id: teamId, name: environment.name });
    for (const name of PIPELINES) environment.pipelineIds.push(await addPipeline(db, environment.id, name));
    environments.push(environment);
  }
  const nodes = Array.from({ length: count }, (_, index) => ({
    id: newId(),
    environment: environments[index % spread]!,
    ...mintNodeToken(),
  }));
  await db.raw(
    `INSERT INTO nodes (id, environment_id, name, host, os, token_id, token_hash, enrolled_at)
     SELECT id, environment_id, 'node-' || ordinal, 'node-' || ordinal, 'linux/x64', token_id, token_hash, now()
     FROM unnest(?::text[], ?::text[], ?::text[], ?::bytea[])
       WITH ORDINALITY AS b(id, environment_id, token_id, token_hash, ordinal)`,
    [
      nodes.map((node) => node.id),
      nodes.map((node) => node.environment.id),
      nodes.map((node) => node.tokenId),
      nodes.map((node) => node.hash),
    ],
  );
  await db.raw('ANALYZE nodes');
  return { nodes: nodes.map(({ id, token, environment }) => ({ id, token, environment })), environments };
}

function mintNodeToken(): { tokenId: string; token: string; hash: Buffer } {
  const { id, token, hash } = mintToken('hgn');
  return { tokenId: id, token, hash };
}

/** Deployed; on every node unless a selector is given. Answers its id. */
export async function addPipeline(
  db: TestDb,
  environmentId: string,
  name: string,
  nodeSelector: Record<string, string> | null = null,
): Promise<string> {
  const common = {
    nodeSelector,
    logLevel: 'info' as const,
    drainSeconds: null,
    nodes: [],
    edges: [],
    globalConfig: {},
  };
  const id = await insertPipeline(db, environmentId, {
    ...common,
    name,
    description: null,
    labels: {},
    dependsOn: [],
  });
  if (id === null) throw new Error(`there is a pipeline ${name} already`);
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
  await updatePipeline(db, id, {
    isDraft: false,
    latestVersionId: versionId,
    deployedVersionId: versionId,
    deployedAt: new Date(),
  });
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
