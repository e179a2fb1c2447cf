/** People in teams, made and read past the API. */
import type { Role } from '../../../schemas/api/common.ts';
import type { TestController } from '../harness/controller.ts';
import type { TestDb } from '../harness/test-db.ts';
import { use } from '../harness/use.ts';
import { makeUser, signIn, type TestUser } from './person.ts';

export type Member = TestUser & { userId: string };

/** Of one controller. */
export interface TestUsers {
  /** Signed in; addresses differ. */
  join(teams?: Record<string, Role>, more?: { isSuperAdmin?: boolean }): Promise<Member>;
  team(root: TestUser, name?: string): Promise<string>;
  roleOf(teamId: string, userId: string): Promise<{ role: Role; source: string } | null>;
  userRow(userId: string): Promise<Record<string, unknown>>;
  /** Answers 200 to whoever is signed in. */
  isSignedIn(person: TestUser): Promise<boolean>;
  /** The newest row of an action, without what differs from run to run. */
  audited(action: string): Promise<Record<string, unknown>>;
}

export function createTestUsers(test: TestController): TestUsers {
  let n = 0;
  const { db } = test;
  return {
    async join(teams = {}, { isSuperAdmin = false } = {}) {
      const email = `person-${++n}@example.org`;
      const userId = await makeUser(db, { email, teams, isSuperAdmin });
      return { ...(await signIn(test.url, email)), userId };
    },
    async team(root, name = `Team ${++n}`) {
      const { id } = await root.mutate<{ id: string }>('team.create', { name });
      return id;
    },
    async roleOf(teamId, userId) {
      const row = await db('team_members')
        .where({ team_id: teamId, user_id: userId })
        .first('role', 'source');
      return row ?? null;
    },
    userRow: (userId) => db('users').where({ id: userId }).first(),
    isSignedIn: async (person) => (await person.call('query', 'team.myRole')).status === 200,
    audited: (action) =>
      db('audit_log')
        .where({ action })
        .orderBy('created_at', 'desc')
        .first('user_email', 'entity_type', 'entity_id', 'team_id', 'diff', 'metadata'),
  };
}

/** A group of the identity provider with these people in it, and the team that it leads to. */
export async function makeGroup(
  db: TestDb,
  group: { name: string; userIds: readonly string[]; teamId?: string; role?: Role },
): Promise<void> {
  const id = `group-${group.name}`;
  await db('directory_groups').insert({ id, source: 'scim', display_name: group.name });
  for (const userId of group.userIds)
    await db('directory_group_members').insert({ group_id: id, user_id: userId });
  if (group.teamId)
    await db('team_mappings').insert({
      ...{ group_name: group.name, team_id: group.teamId, role: group.role ?? 'VIEWER', position: 0 },
    });
}

export const useTestUsers = (test: TestController) => use(() => createTestUsers(test));
