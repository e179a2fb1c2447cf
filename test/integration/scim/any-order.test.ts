/**
 * Whatever a provider sends, in whatever order, by however many at once: in the end everybody is in the teams that groups
 * and mappings lead to by the pure rule, and memberships that somebody set by hand are as they were.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { grantsOf } from '../../../controller/identity/directory/index.ts';
import type { Role } from '../../../schemas/api/common.ts';
import type { TeamMapping } from '../../../schemas/api/settings.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { longProperty } from '../../support/harness/long-property.ts';
import { until } from '../../support/harness/until.ts';
import { type Json, useScim } from '../../support/scenes/scim/client.ts';

const GROUPS = ['red', 'green', 'blue'];
const ROLES: Role[] = ['VIEWER', 'EDITOR', 'ADMIN'];
const PEOPLE = 4;
const TEAMS = 2;

type Action =
  | { kind: 'post' | 'put'; group: number; name: number; members: number[] }
  | { kind: 'add' | 'remove' | 'set'; group: number; members: number[] }
  | { kind: 'rename'; group: number; name: number }
  | { kind: 'delete'; group: number }
  | { kind: 'map'; mappings: { group: number; team: number; role: Role }[] }
  | { kind: 'user'; person: number; how: 'deactivate' | 'activate' | 'delete' | 'create' };

const group = fc.nat(GROUPS.length - 1);
const members = fc.subarray(Array.from({ length: PEOPLE }, (_, n) => n));
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('post' as const, 'put' as const),
      group,
      name: group,
      members,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('add' as const, 'remove' as const, 'set' as const),
      group,
      members,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rename' as const), group, name: group }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), group }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('map' as const),
      mappings: fc.uniqueArray(
        fc.record({ group, team: fc.nat(TEAMS - 1), role: fc.constantFrom(...ROLES) }),
        {
          maxLength: 4,
          selector: (one) => `${one.group} ${one.team}`,
        },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('user' as const),
      person: fc.nat(PEOPLE - 1),
      how: fc.constantFrom('deactivate' as const, 'activate' as const, 'delete' as const, 'create' as const),
    }),
  },
);

describe('group operations of SCIM', () => {
  const test = useController();
  const root = useRoot(test);
  const scim = useScim(root);
  let teams: string[];
  let people: string[];

  before(async () => {
    teams = [];
    for (let n = 0; n < TEAMS; n += 1)
      teams.push((await root.mutate<{ id: string }>('team.create', { name: `Team ${n}` })).id);
    people = [];
    for (let n = 0; n < PEOPLE; n += 1) people.push(await scim.user(`person${n}@example.org`));
    // The last has been put into the first team by hand.
    await test.db('team_members').insert({ team_id: teams[0], user_id: people.at(-1), role: 'VIEWER' });
  });

  async function clean(): Promise<void> {
    await test.db('directory_groups').delete();
    await test.db('team_mappings').delete();
    await test.db('team_members').where({ source: 'group' }).delete();
    for (let person = 0; person < PEOPLE; person += 1) await send({ kind: 'user', person, how: 'create' });
  }

  const ids = (of: readonly number[]) => of.map((n) => people[n]);
  const values = (of: readonly number[]) => ids(of).map((value) => ({ value }));
  /** The id of the n-th group that is there, or of one that is not. */
  const groupId = async (n: number) =>
    (await test.db('directory_groups').orderBy('id').select('id')).at(n)?.id ?? 'none';

  /** Any status but a fault of the server; the second to come may find that nothing is there any more. */
  async function send(one: Action): Promise<void> {
    let status = 0;
    // Many runs come to the limit of requests a minute.
    const taken = async () => {
      ({ status } = await ask(one));
      return status !== 429;
    };
    await until(taken, { what: 'a request to be taken', timeoutMs: 90_000 });
    expect(status, JSON.stringify(one)).to.be.oneOf([200, 201, 204, 400, 404, 409]);
  }
  async function ask(one: Action): Promise<{ status: number }> {
    const patch = async (operation: object) =>
      scim.patch(`/Groups/${await groupId((one as { group: number }).group)}`, operation);
    switch (one.kind) {
      case 'post':
        return scim.call('POST', '/Groups', {
          displayName: GROUPS[one.name],
          members: values(one.members),
        });
      case 'put':
        return scim.call('PUT', `/Groups/${await groupId(one.group)}`, {
          displayName: GROUPS[one.name],
          members: values(one.members),
        });
      case 'add':
        return patch({ op: 'add', path: 'members', value: values(one.members) });
      case 'remove':
        return patch({ op: 'remove', path: 'members', value: values(one.members) });
      case 'set':
        return patch({ op: 'replace', path: 'members', value: values(one.members) });
      case 'rename':
        return patch({ op: 'replace', path: 'displayName', value: GROUPS[one.name] });
      case 'delete':
        return scim.call('DELETE', `/Groups/${await groupId(one.group)}`);
      case 'user':
        return user(one.person, one.how);
      case 'map':
        return map(one.mappings);
    }
  }
  const user = (n: number, how: 'deactivate' | 'activate' | 'delete' | 'create') => {
    const path = `/Users/${people[n]}`;
    if (how === 'delete') return scim.call('DELETE', path);
    if (how === 'create') return scim.call('POST', '/Users', { userName: `person${n}@example.org` });
    return scim.patch(path, { op: 'replace', value: { active: how === 'activate' } });
  };
  const map = (mappings: readonly { group: number; team: number; role: Role }[]) =>
    root.call('mutation', 'settings.updateOidcTeamMappings', {
      mappings: mappings.map(({ group: n, team, role }) => ({ group: GROUPS[n], teamId: teams[team], role })),
      ...{ defaultRole: 'VIEWER', groupSyncEnabled: false },
    });

  async function expectAsTheRuleSays(): Promise<void> {
    const mappings: TeamMapping[] = (await test.db('team_mappings')).map((row: Json) => ({
      group: row.group_name,
      teamId: row.team_id,
      role: row.role,
    }));
    const rules = {
      mappings,
      defaultTeamId: null,
      defaultRole: null,
      patterns: [],
      teamsByName: new Map(),
      adminGroups: [],
      editorGroups: [],
    };
    for (const [n, userId] of people.entries()) {
      const groups = await test
        .db('directory_group_members as m')
        .join('directory_groups as g', 'g.id', 'm.group_id')
        .where({ 'm.user_id': userId })
        .select('g.display_name');
      const isManual = n === PEOPLE - 1;
      const wanted = [
        ...grantsOf({ groups: groups.map((one: Json) => one.display_name), signsInByOidc: false }, rules),
      ]
        .filter(([teamId]) => !(isManual && teamId === teams[0]))
        .map(([teamId, role]) => `${teamId} ${role} group`);
      if (isManual) wanted.push(`${teams[0]} VIEWER manual`);
      const rows = await test.db('team_members').where({ user_id: userId });
      expect(
        rows.map((row: Json) => `${row.team_id} ${row.role} ${row.source}`).sort(),
        `person ${n}`,
      ).to.deep.equal(wanted.sort());
      const record = await test.db('scim_users').where({ user_id: userId }).first();
      if (record.deleted_at !== null) expect(groups, `person ${n} is deleted`).to.deep.equal([]);
    }
  }

  it('one after the other end in the memberships that the rule says', async function () {
    this.timeout(600_000);
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 12 }), async (actions) => {
        await clean();
        for (const one of actions) await send(one);
        await expectAsTheRuleSays();
      }),
      longProperty(25),
    );
  });

  it('at the same moment end in the memberships that the rule says', async function () {
    this.timeout(600_000);
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 2, maxLength: 12 }), async (actions) => {
        await clean();
        await send({ kind: 'post', group: 0, name: 0, members: [0, 1, 3] });
        await send({ kind: 'post', group: 0, name: 1, members: [1, 2] });
        await Promise.all(actions.map(send));
        await expectAsTheRuleSays();
      }),
      longProperty(25),
    );
  });
});
