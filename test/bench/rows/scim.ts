/** An identity provider that asks for single users and moves a thousand of them, among ten thousand, over HTTP. */

import { connect } from '../../../controller/database/connect.ts';
import { signIn } from '../../../controller/demo/client.ts';
import { SCIM_URNS } from '../../../schemas/scim/common.ts';
import type { TestDb } from '../../support/harness/test-db.ts';
import { startController } from '../child.ts';
import { makeDatabase } from '../database.ts';
import { ADMIN } from '../health-watch.ts';
import { median, ms, percentile, type Result, type Say, whole } from '../result.ts';
import { externalId, traceOf, userName, userResource, writeScimUsers } from '../scim-users.ts';

const USERS = 10_000;
/** Both kinds together stay below the 3,000 requests that SCIM takes in a minute. */
const QUERIES = 1_000;
const WARM_UP_QUERIES = 50;
const MOVED = 1_000;
const GROUP = 5_000;
const ROUNDS = 5;
const QUERY_GOAL_MS = 50;
const MOVE_GOAL_MS = 3_000;
/** Users that come by the API, to be compared with those that were written. */
const SAMPLE = 20;

type Provider = (method: string, path: string, body?: object) => Promise<{ took: number; body: string }>;

export async function scim(say: Say): Promise<Result[]> {
  say(`scim: making ${whole(USERS)} users …`);
  const database = await makeDatabase();
  const db = connect(database.url, { poolSize: 1 });
  try {
    const controller = await startController(database.folder, {
      variables: { HEADGATE_DATABASE_URL: database.url, ...ADMIN },
    });
    try {
      const { provider, teamId } = await prepare(`http://127.0.0.1:${controller.port}`);
      const ids = await writeScimUsers(db, USERS);
      await compareForm(db, provider);
      const members = async () =>
        Number((await db('team_members').where({ team_id: teamId, source: 'group' }).count())[0]?.count);
      say('scim: asking for users …');
      const asked = [
        await ask(provider, 'userName', userName),
        await ask(provider, 'externalId', externalId),
      ];
      say('scim: moving members …');
      return [...asked, ...(await move(provider, ids, members))];
    } finally {
      await controller.stop();
    }
  } finally {
    await db.destroy();
    await database.remove();
  }
}

/** A provider with its token, and the group `Engineers` that leads to a team. */
async function prepare(url: string): Promise<{ provider: Provider; teamId: string }> {
  const root = await signIn(url, ADMIN.HEADGATE_ADMIN_EMAIL, ADMIN.HEADGATE_ADMIN_PASSWORD);
  const { id: teamId } = await root.mutate<{ id: string }>('team.create', { name: 'Engineering' });
  await root.mutate('settings.updateOidcTeamMappings', {
    mappings: [{ group: 'Engineers', teamId, role: 'EDITOR' }],
    ...{ defaultRole: 'VIEWER', groupSyncEnabled: false },
  });
  await root.mutate('settings.updateScim', { enabled: true });
  const { token } = await root.mutate<{ token: string }>('settings.generateScimToken');
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' };
  const provider: Provider = async (method, path, body) => {
    const startedAt = performance.now();
    const answer = await fetch(`${url}/api/scim/v2${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const took = performance.now() - startedAt;
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`);
    return { took, body: text };
  };
  return { provider, teamId };
}

/** What is measured are users as SCIM makes them. */
async function compareForm(db: TestDb, provider: Provider): Promise<void> {
  const written = await traceOf(db, 1);
  for (let n = USERS + 1; n <= USERS + SAMPLE; n += 1) {
    await provider('POST', '/Users', userResource(n));
    const made = await traceOf(db, n);
    if (made !== written) throw new Error(`SCIM leaves\n${made}\nand not what was written,\n${written}`);
  }
}

const anyUser = () => 1 + Math.floor(Math.random() * USERS);

/** One user after the other, each with the whole answer. */
async function ask(provider: Provider, attribute: string, nameOf: (n: number) => string): Promise<Result> {
  const took: number[] = [];
  for (let made = 0; made < WARM_UP_QUERIES + QUERIES; made += 1) {
    const value = nameOf(anyUser());
    const answer = await provider('GET', `/Users?filter=${encodeURIComponent(`${attribute} eq "${value}"`)}`);
    const { totalResults, Resources } = JSON.parse(answer.body);
    if (totalResults !== 1 || Resources[0][attribute] !== value)
      throw new Error(`${attribute} eq "${value}" found ${answer.body.slice(0, 500)}`);
    if (made >= WARM_UP_QUERIES) took.push(answer.took);
  }
  const p99 = percentile(took, 0.99);
  return {
    what: `SCIM: ${attribute} eq "…" among ${whole(USERS)} users`,
    goal: `p99 < ${QUERY_GOAL_MS} ms`,
    measured: `p50 ${ms(median(took))}, p99 ${ms(p99)}, longest of ${whole(QUERIES)} ${ms(Math.max(...took))}`,
    ok: p99 < QUERY_GOAL_MS,
  };
}

/** Each round begins with a group of 5,000 and ends with it; `members` are those of the team that it leads to. */
async function move(
  provider: Provider,
  ids: readonly string[],
  members: () => Promise<number>,
): Promise<Result[]> {
  const references = (chosen: readonly string[]) => chosen.map((value) => ({ value }));
  const first = ids.slice(0, GROUP);
  const others = ids.slice(GROUP, 2 * GROUP);
  const moved = ids.slice(GROUP, GROUP + MOVED);
  const group = { displayName: 'Engineers', members: references(first) };
  const made = await provider('POST', '/Groups', group);
  const path = `/Groups/${JSON.parse(made.body).id}`;
  const patch = (Operations: object[]) => ({ schemas: [SCIM_URNS.patch], Operations });
  const add = patch([{ op: 'add', path: 'members', value: references(moved) }]);
  // The longer of the two forms that providers send.
  const remove = patch(moved.map((id) => ({ op: 'remove', path: `members[value eq "${id}"]` })));
  const took = { added: [] as number[], removed: [] as number[], same: [] as number[], all: [] as number[] };
  const step = async (into: number[], method: string, body: object, then: number) => {
    into.push((await provider(method, path, body)).took);
    const count = await members();
    if (count !== then) throw new Error(`the team has ${count} members by its group instead of ${then}`);
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    await step(took.added, 'PATCH', add, GROUP + MOVED);
    await step(took.removed, 'PATCH', remove, GROUP);
    await step(took.same, 'PUT', group, GROUP);
    await step(took.all, 'PUT', { ...group, members: references(others) }, GROUP);
    await step([], 'PUT', group, GROUP);
  }
  return [
    told('SCIM: PATCH that adds 1,000 members to a group of 5,000 with a team', took.added, MOVE_GOAL_MS),
    told('SCIM: PATCH that removes 1,000 of its 6,000 members, each by a path', took.removed, MOVE_GOAL_MS),
    told('SCIM: PUT of a group of 5,000, nothing new', took.same),
    told('SCIM: PUT of a group of 5,000 in place of 5,000 others', took.all),
  ];
}

function told(what: string, took: readonly number[], goalMs?: number): Result {
  const longest = Math.max(...took);
  return {
    what,
    goal: goalMs === undefined ? '' : `< ${goalMs / 1_000} s`,
    measured: `median ${ms(median(took))}, longest of ${took.length} ${ms(longest)}`,
    ok: goalMs === undefined ? null : longest < goalMs,
  };
}
