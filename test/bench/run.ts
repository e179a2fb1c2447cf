/**
 * `make bench`: measures what docs/benchmarks.md promises, prints a table and writes it to test/.artifacts/bench.md.
 * Names after the command pick rows: node test/bench/run.ts config heartbeat. `--profile` tells where the controller's
 * time went in the rows `fleet` and `heartbeat`; `--nodes` and `--seconds` make a row smaller, `--rows` says how long an audit log `audit` has.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from './machine.ts';
import type { RowOptions } from './options.ts';
import { asMarkdown, asText, type Result, type Say } from './result.ts';
import { alerts } from './rows/alerts.ts';
import { anomalies } from './rows/anomalies.ts';
import { audit } from './rows/audit.ts';
import { backup } from './rows/backup.ts';
import { coldStart } from './rows/cold-start.ts';
import { configPolls } from './rows/config-polls.ts';
import { firstLoad } from './rows/first-load.ts';
import { firstPage } from './rows/first-page.ts';
import { fleet } from './rows/fleet.ts';
import { heartbeats } from './rows/heartbeats.ts';
import { herd } from './rows/herd.ts';
import { idleAgent } from './rows/idle-agent.ts';
import { lists } from './rows/lists.ts';
import { metrics } from './rows/metrics.ts';
import { overload } from './rows/overload.ts';
import { pass } from './rows/pass.ts';
import { pushToEngine } from './rows/push-to-engine.ts';
import { readManifests } from './rows/read-manifests.ts';
import { receive } from './rows/receive.ts';
import { recovery } from './rows/recovery.ts';
import { scim } from './rows/scim.ts';
import { validate } from './rows/validate.ts';

const ROWS: Readonly<Record<string, (say: Say, options: RowOptions) => Promise<Result[]>>> = {
  config: configPolls,
  heartbeat: heartbeats,
  fleet,
  herd,
  recovery,
  lists: (say) => lists(say),
  overload,
  metrics: (say) => metrics(say),
  alerts: (say) => alerts(say),
  anomalies: (say) => anomalies(say),
  scim: (say) => scim(say),
  audit,
  backup,
  push: pushToEngine,
  receive: (say) => receive(say),
  source: (say) => readManifests(say),
  validate: (say) => validate(say),
  pass: (say) => pass(say),
  agent: idleAgent,
  start: coldStart,
  web: firstLoad,
  page: firstPage,
};

const { positionals: wanted, values } = parseArgs({
  allowPositionals: true,
  options: {
    profile: { type: 'boolean' },
    nodes: { type: 'string' },
    seconds: { type: 'string' },
    rows: { type: 'string' },
  },
});
const options: RowOptions = {
  profile: values.profile ?? false,
  nodes: values.nodes === undefined ? undefined : Number(values.nodes),
  seconds: values.seconds === undefined ? undefined : Number(values.seconds),
  rows: values.rows === undefined ? undefined : Number(values.rows),
};
const strange = wanted.find((name) => !(name in ROWS));
if (strange !== undefined) {
  process.stderr.write(`There is no row "${strange}"; there are: ${Object.keys(ROWS).join(', ')}\n`);
  process.exit(2);
}

const startedAt = performance.now();
const machine = describeMachine();
const say: Say = (text) => process.stderr.write(`${text}\n`);
const results: Result[] = [];
for (const [name, row] of Object.entries(ROWS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  try {
    results.push(...(await row(say, options)));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(`${name}: ${error instanceof Error ? error.stack : reason}`);
    results.push({ what: name, goal: '', measured: `failed: ${reason.split('\n')[0]}`, ok: false });
  }
}
const took = `${Math.round((performance.now() - startedAt) / 1_000)} s`;
process.stdout.write(`\n${machine}\n\n${asText(results)}\n\nTook ${took}\n`);
const artifacts = join(import.meta.dirname, '../.artifacts');
mkdirSync(artifacts, { recursive: true });
writeFileSync(
  join(artifacts, 'bench.md'),
  `${machine}, ${new Date().toISOString().slice(0, 10)}\n\n${asMarkdown(results)}\n`,
);
