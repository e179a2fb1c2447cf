/** Two teams with nothing in them but environments, and people of every role: quick to make, where no git is wanted. */
import type { TestController } from '../harness/controller.ts';
import { type Kind, makeUser, signIn, type TestUser } from '../users/person.ts';

export interface TestEnvironments {
  root: TestUser;
  viewer: TestUser;
  editor: TestUser;
  admin: TestUser;
  /** EDITOR in both teams. */
  both: TestUser;
  teamId: string;
  environmentId: string;
  /** Another one of the same team. */
  siblingId: string;
  otherTeamId: string;
  /** Of the other team. */
  foreignId: string;
}

export async function makeTestEnvironments(test: TestController): Promise<TestEnvironments> {
  const root = await test.root();
  const make = async (name: string, input: object) => (await root.mutate<{ id: string }>(name, input)).id;
  const teamId = await make('team.create', { name: 'ours' });
  const otherTeamId = await make('team.create', { name: 'theirs' });
  const join = async (name: string, teams: Parameters<typeof makeUser>[1]['teams']) => {
    const email = `${name}@example.org`;
    await makeUser(test.db, { email, teams });
    return signIn(test.url, email);
  };
  return {
    root,
    teamId,
    otherTeamId,
    environmentId: await make('environment.create', { teamId, name: 'staging' }),
    siblingId: await make('environment.create', { teamId, name: 'production' }),
    foreignId: await make('environment.create', { teamId: otherTeamId, name: 'staging' }),
    viewer: await join('viewer', { [teamId]: 'VIEWER' }),
    editor: await join('editor', { [teamId]: 'EDITOR' }),
    admin: await join('admin', { [teamId]: 'ADMIN' }),
    both: await join('both', { [teamId]: 'EDITOR', [otherTeamId]: 'EDITOR' }),
  };
}

/** How a call is refused: `CONFLICT: the message`; `OK` where it is not. */
export async function refusal(person: TestUser, kind: Kind, name: string, input?: unknown): Promise<string> {
  const { fault } = await person.call(kind, name, input);
  return fault ? `${fault.data.code}: ${fault.message}` : 'OK';
}

/** Ten calls at once; answers their statuses in ascending order. */
export async function tenAtOnce(call: (n: number) => Promise<{ status: number }>): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => call(n)));
  return answers.map(({ status }) => status).sort((a, b) => a - b);
}
export const ONE_OF_TEN = [200, ...Array.from({ length: 9 }, () => 409)];
