/** The audit log as people look at it, after years: by every filter, as a super admin and as a member of three teams. */
import { connect } from '../../../controller/database/connect.ts';
import { type ApiClient, signIn } from '../../../controller/demo/client.ts';
import type { AuditEntryView } from '../../../schemas/api/insight/audit.ts';
import { MEMBER, writeAuditLog, writePeople } from '../audit-log.ts';
import { type AuditLook, LOOKS, type Viewer } from '../audit-looks.ts';
import { startController } from '../child.ts';
import { type BenchDatabase, makeDatabase } from '../database.ts';
import { ADMIN } from '../health-watch.ts';
import type { RowOptions } from '../options.ts';
import { median, ms, percentile, type Result, type Say, whole } from '../result.ts';

/** Ten million, which the goal is meant for, take minutes to write and ten gigabytes. */
const EVENTS = 1_000_000;
const TOLD_EVERY = 1_000_000;
const GOAL_MS = 200;
const CALLS = 40;
const WARM_UP_CALLS = 5;
const WORDS = ['audit.actions', 'audit.entityTypes', 'audit.users'] as const;

interface Person {
  viewer: Viewer;
  name: string;
  api: ApiClient;
}

export async function audit(say: Say, options: RowOptions): Promise<Result[]> {
  const events = options.rows ?? EVENTS;
  say(`audit: writing ${whole(events)} events …`);
  const database = await makeDatabase();
  try {
    return [await fill(database, events, say), ...(await lookAt(database, events, say))];
  } finally {
    await database.remove();
  }
}

async function fill({ url }: BenchDatabase, events: number, say: Say): Promise<Result> {
  const db = connect(url, { poolSize: 1 });
  try {
    await writePeople(db);
    const startedAt = performance.now();
    await writeAuditLog(db, events, (made) => {
      if (made % TOLD_EVERY === 0) say(`  ${whole(made)}`);
    });
    const seconds = (performance.now() - startedAt) / 1_000;
    const { rows } = await db.raw<{ rows: [{ all: number; indexes: number }] }>(
      `SELECT pg_total_relation_size('audit_log') AS all, pg_indexes_size('audit_log') AS indexes`,
    );
    const gigabytes = (bytes: number) => `${(bytes / 1024 ** 3).toFixed(1)} GB`;
    return {
      what: `an audit log of ${whole(events)} events`,
      goal: '',
      measured: `${gigabytes(rows[0].all)}, ${gigabytes(rows[0].indexes)} of them indexes; written in ${whole(seconds)} s`,
      ok: null,
    };
  } finally {
    await db.destroy();
  }
}

async function lookAt(database: BenchDatabase, events: number, say: Say): Promise<Result[]> {
  const controller = await startController(database.folder, {
    variables: { HEADGATE_DATABASE_URL: database.url, ...ADMIN },
  });
  try {
    const url = `http://127.0.0.1:${controller.port}`;
    const [email, password] = [ADMIN.HEADGATE_ADMIN_EMAIL, ADMIN.HEADGATE_ADMIN_PASSWORD];
    const people: Person[] = [
      { viewer: 'admin', name: 'super admin', api: await signIn(url, email, password) },
      { viewer: 'member', name: 'member', api: await signIn(url, MEMBER.email, MEMBER.password) },
    ];
    const results: Result[] = [];
    for (const look of LOOKS)
      results.push(await over(people, `… audit.list: ${look.what}`, (person) => pages(person, look, events)));
    for (const procedure of WORDS)
      results.push(await over(people, `… ${procedure}`, (person) => words(person, procedure)));
    for (const { what, measured } of results) say(`  ${what}: ${measured}`);
    return results;
  } finally {
    await controller.stop();
  }
}

/** Milliseconds of one call after the other. */
type Call = () => Promise<number>;

async function over(
  people: readonly Person[],
  what: string,
  prepare: (person: Person) => Call,
): Promise<Result> {
  const told: string[] = [];
  let worst = 0;
  for (const person of people) {
    const call = prepare(person);
    const took: number[] = [];
    for (let made = 0; made < WARM_UP_CALLS + CALLS; made += 1) {
      const one = await call();
      if (made >= WARM_UP_CALLS) took.push(one);
    }
    const p99 = percentile(took, 0.99);
    worst = Math.max(worst, p99);
    told.push(`${person.name} p50 ${ms(median(took))}, p99 ${ms(p99)}`);
  }
  return { what, goal: `p99 < ${GOAL_MS} ms`, measured: told.join('; '), ok: worst < GOAL_MS };
}

interface Page {
  entries: AuditEntryView[];
  nextCursor: string | null;
}

function pages({ viewer, api }: Person, look: AuditLook, events: number): Call {
  let next: string | null = null;
  return async () => {
    const input = { ...look.input(viewer, events), ...(look.walks && next !== null ? { cursor: next } : {}) };
    const { took, output } = await ask<Page>(api, 'audit.list', input);
    const found = output.entries.length;
    const wanted = look.finds === undefined ? found : look.finds === 'nothing' ? 0 : (input.limit ?? 50);
    if (found !== wanted) throw new Error(`audit.list ${JSON.stringify(input)} found ${found} events`);
    next = output.nextCursor;
    return took;
  };
}

function words({ api }: Person, procedure: string): Call {
  return async () => {
    const { took, output } = await ask<unknown[]>(api, procedure);
    if (output.length === 0) throw new Error(`${procedure} found nothing`);
    return took;
  };
}

/** Until the last byte is there. */
async function ask<T>(
  api: ApiClient,
  procedure: string,
  input?: object,
): Promise<{ took: number; output: T }> {
  const startedAt = performance.now();
  const answer = await api.ask(procedure, input);
  const text = await answer.text();
  const took = performance.now() - startedAt;
  if (!answer.ok) throw new Error(`${procedure} ${JSON.stringify(input)}: ${text.slice(0, 500)}`);
  return { took, output: (JSON.parse(text) as { result: { data: { json: T } } }).result.data.json };
}
