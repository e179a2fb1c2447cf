/** An environment with thousands of nodes, written straight into the database: played agents would take minutes. */
import type { TestDb } from '../harness/test-db.ts';

interface Options {
  environmentId: string;
  nodes: number;
  pipelines: number;
  /** The numbers of those that are not as they should be. */
  odd?: { silent: number; crashed: number; behind: number };
}

/**
 * Nodes `node-0001` … that run every one of the pipelines `stream-01` …, with labels by which they fall into four
 * regions, but for three odd ones: a silent node has not been heard of for an hour, stream-07 has crashed on another, and
 * stream-42 is at an older version on a third. Reports lie an hour ahead, so that nodes stay healthy without heartbeats.
 */
export async function writeLargeFleet(
  db: TestDb,
  { environmentId, nodes, pipelines, odd = { silent: 2500, crashed: 1234, behind: 4321 } }: Options,
): Promise<void> {
  await db.raw(
    `INSERT INTO pipelines (id, environment_id, name, is_draft, latest_version_id, deployed_version_id, deployed_at)
     SELECT 'cstream' || lpad(n::text, 18, '0'), :environmentId, 'stream-' || lpad(n::text, 2, '0'), false,
       'cversion' || lpad(n::text, 17, '0'), 'cversion' || lpad(n::text, 17, '0'), now() - interval '1 hour'
     FROM generate_series(1, :pipelines) n`,
    { environmentId, pipelines },
  );
  await db.raw(
    `INSERT INTO pipeline_versions (id, pipeline_id, version, config_yaml, log_level, graph_nodes, graph_edges, global_config, source)
     SELECT 'cversion' || lpad(n::text, 17, '0'), 'cstream' || lpad(n::text, 18, '0'), 3, 'sources: {}', 'info', '[]', '[]', '{}', 'ui'
     FROM generate_series(1, :pipelines) n`,
    { pipelines },
  );
  await db.raw(
    `INSERT INTO nodes (id, environment_id, name, host, os, enrolled_at)
     SELECT 'cnode' || lpad(n::text, 20, '0'), :environmentId, 'node-' || lpad(n::text, 4, '0'),
       'node-' || n || '.example.org', 'linux/x64', now()
     FROM generate_series(1, :nodes) n`,
    { environmentId, nodes },
  );
  await db.raw(
    `INSERT INTO node_reports (node_id, reported_at, agent_version, engine_version, deployment_mode, agent_labels)
     SELECT 'cnode' || lpad(n::text, 20, '0'),
       CASE n WHEN :silent THEN now() - interval '1 hour' ELSE now() + interval '1 hour' END, '0.6.0', 'vector 0.57.0',
       'STANDALONE', jsonb_build_object('role', 'edge', 'region', 'r' || n % 4)
     FROM generate_series(1, :nodes) n`,
    { nodes, silent: odd.silent },
  );
  await db.raw('INSERT INTO node_presence (node_id, heard_at) SELECT node_id, reported_at FROM node_reports');
  await db.raw(
    `INSERT INTO node_pipelines (node_id, pipeline_id, version, status, status_since, reported_at)
     SELECT 'cnode' || lpad(n::text, 20, '0'), 'cstream' || lpad(p::text, 18, '0'),
       CASE WHEN n = :behind AND p = 42 THEN 2 ELSE 3 END,
       CASE WHEN n = :crashed AND p = 7 THEN 'CRASHED' ELSE 'RUNNING' END, now(), now() + interval '1 hour'
     FROM generate_series(1, :nodes) n, generate_series(1, :pipelines) p`,
    { nodes, pipelines, crashed: odd.crashed, behind: odd.behind },
  );
}
