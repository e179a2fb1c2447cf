/** A group of five thousand: its changes ask the database a bounded number of times, and one more member costs as much as ever. */
import { expect } from 'chai';
import { connect } from '../../../controller/database/connect.ts';
import {
  scimGroupOperations as groups,
  scimUserOperations as users,
} from '../../../controller/identity/scim/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import type { Operation } from '../../../controller/platform/operation/operation.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { patient } from '../../support/harness/patience.ts';
import { type Json, useScim } from '../../support/scenes/scim/client.ts';

const MANY = 5_000;

describe('a group of five thousand', () => {
  const test = useController();
  const root = useRoot(test);
  const scim = useScim(root);
  let teamId: string;

  before(async function () {
    this.timeout(60_000);
    ({ id: teamId } = await root.mutate<{ id: string }>('team.create', { name: 'Web' }));
    await root.mutate('settings.updateOidcTeamMappings', {
      mappings: ['Few', 'Many'].map((group) => ({ group, teamId, role: 'EDITOR' })),
      ...{ defaultRole: 'VIEWER', groupSyncEnabled: false },
    });
    await test.db.raw(
      `WITH made AS (INSERT INTO users (id, email, name, auth_method, is_super_admin)
         SELECT 'many' || lpad(n::text, 5, '0'), 'many' || n || '@example.org', 'Many ' || n, 'OIDC', false
         FROM generate_series(0, ?) n RETURNING id, email)
       INSERT INTO scim_users (user_id, user_name) SELECT id, email FROM made`,
      [MANY + 50],
    );
  });

  const person = (n: number) => `many${String(n).padStart(5, '0')}`;
  const persons = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => person(from + n));
  const inTeam = async () =>
    Number(
      (
        await test
          .db('team_members')
          .where({ team_id: teamId, source: 'group' })
          .count({ count: '*' })
          .first()
      )?.count,
    );

  /** Statements of an operation, without those that only begin and end its transaction. */
  async function statements(operation: Operation, input: object): Promise<string[]> {
    const db = connect(test.databaseUrl, { poolSize: 1 });
    const seen: string[] = [];
    db.on('query', ({ sql }: { sql: string }) => seen.push(sql));
    const ctx: Context = { ...test.controller.systemContext('test'), db, actor: { type: 'scim' } };
    try {
      await test.controller.execute(operation, ctx, input);
      return seen;
    } finally {
      await db.destroy();
    }
  }

  it('is made, read, changed, renamed and deleted in bounded time', async function () {
    this.timeout(60_000);
    const timed = async <T>(what: string, work: () => Promise<T>, limitMs = 8_000): Promise<T> => {
      const started = performance.now();
      const done = await work();
      expect(performance.now() - started, what).to.be.below(patient(limitMs));
      return done;
    };
    const id = await timed('made', () => scim.group('Many', persons(0, MANY)));
    expect(await inTeam()).to.equal(MANY);
    const read = await timed('read', () => scim.want(200, 'GET', `/Groups/${id}`));
    expect(read.members).to.have.length(MANY);
    const add = { op: 'add', path: 'members', value: [{ value: person(MANY) }] };
    expect((await timed('one more', () => scim.patch(`/Groups/${id}`, add))).status).to.equal(204);
    expect(await inTeam()).to.equal(MANY + 1);
    const each = persons(0, 1_000).map((one) => ({ op: 'remove', path: `members[value eq "${one}"]` }));
    expect((await timed('a thousand leave', () => scim.patch(`/Groups/${id}`, ...each))).status).to.equal(
      204,
    );
    expect(await inTeam()).to.equal(MANY - 999);
    const whole = {
      displayName: 'Many',
      members: persons(0, MANY).map((value) => ({
        value,
        display: null,
        $ref: `https://idp.example/Users/${value}`,
      })),
    };
    await timed('replaced', () => scim.want(200, 'PUT', `/Groups/${id}`, whole));
    expect(await inTeam()).to.equal(MANY);
    const rename = { op: 'replace', path: 'displayName', value: 'Nothing' };
    await timed('renamed', () => scim.patch(`/Groups/${id}`, rename));
    expect(await inTeam()).to.equal(0);
    await timed('renamed again', () => scim.patch(`/Groups/${id}`, { ...rename, value: 'Many' }));
    expect(await inTeam()).to.equal(MANY);
    await timed('deleted', () => scim.want(204, 'DELETE', `/Groups/${id}`));
    expect(await inTeam()).to.equal(0);
  });

  it('asks as often for one more member as a group of ten does', async function () {
    this.timeout(60_000);
    const [few, many] = [await scim.group('Few', persons(0, 10)), await scim.group('Many', persons(0, MANY))];
    const change = (how: 'add' | 'remove', n: number) => ({
      changes: [{ kind: 'members', how, ids: [person(n)] }],
    });
    for (const how of ['add', 'remove'] as const) {
      const [ofFew, ofMany] = [
        await statements(groups.patchScimGroup, { id: few, ...change(how, MANY + 7) }),
        await statements(groups.patchScimGroup, { id: many, ...change(how, MANY + 8) }),
      ];
      expect(ofMany.length, ofMany.join('\n')).to.be.at.most(ofFew.length);
      expect(ofMany.length).to.be.below(35);
    }
    const one = await statements(users.getScimUser, { id: person(3) });
    const all = await statements(users.listScimUsers, { startIndex: 1, count: 1_000, filter: null });
    expect([one.length, all.length]).to.deep.equal([2, 3]);
    expect(
      await statements(groups.listScimGroups, { startIndex: 1, count: 1_000, members: true, filter: null }),
    ).to.have.length(3);
    for (const group of [few, many]) await scim.want(204, 'DELETE', `/Groups/${group}`);
  });

  it('asks at most a piece of a thousand people more often where all are concerned', async function () {
    this.timeout(60_000);
    const made = await statements(groups.createScimGroup, { displayName: 'Many', members: persons(0, MANY) });
    expect(made.length, made.join('\n')).to.be.below(60);
    const { id } = await test.db('directory_groups').where({ display_name: 'Many' }).first();
    const replaced = await statements(groups.replaceScimGroup, {
      id,
      group: { displayName: 'Many', members: persons(50, MANY + 50) },
    });
    expect(replaced.length).to.be.below(60);
    const deleted = await statements(groups.deleteScimGroup, { id });
    expect(deleted.length).to.be.below(60);
  });

  it('is told on a page that ends early rather than telling of too many members', async function () {
    this.timeout(60_000);
    const ids = [];
    for (let n = 0; n < 6; n += 1) ids.push(await scim.group(`Part ${n}`, persons(0, MANY)));
    const names: string[] = [];
    for (let startIndex = 1; startIndex <= 6; ) {
      const page = await scim.want(200, 'GET', `/Groups?startIndex=${startIndex}&count=100`);
      expect(page.totalResults).to.equal(6);
      expect(page.itemsPerPage).to.be.within(1, 4);
      startIndex += page.itemsPerPage;
      names.push(...page.Resources.map(({ displayName }: Json) => displayName));
    }
    expect(names.sort()).to.deep.equal(ids.map((_, n) => `Part ${n}`));
    const bare = await scim.want(200, 'GET', '/Groups?count=100&excludedAttributes=members');
    expect(bare.itemsPerPage).to.equal(6);
  });
});
