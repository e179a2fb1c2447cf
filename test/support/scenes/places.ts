/** Two teams with nothing in them but environments, and people of every role: quick to make, where no git is wanted. */
import type { TestController } from '../harness/controller.ts';
import { use } from '../harness/use.ts';
import { type Kind, type makeUser, refusalOf, signUp, type TestUser } from '../users/person.ts';

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
    return signUp(test, { email: `${name}@example.org`, teams });
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
export const refusal = async (person: TestUser, kind: Kind, name: string, input?: unknown): Promise<string> =>
  refusalOf(await person.call(kind, name, input));

/** A new token that nodes enroll with. */
export const enrollmentToken = async (person: TestUser, environmentId: string): Promise<string> =>
  (await person.mutate<{ token: string }>('environment.generateEnrollmentToken', { environmentId })).token;

/** Ten calls at once; answers their statuses in ascending order. */
export async function tenAtOnce(call: (n: number) => Promise<{ status: number }>): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => call(n)));
  return answers.map(({ status }) => status).sort((a, b) => a - b);
}
export const ONE_OF_TEN = [200, ...Array.from({ length: 9 }, () => 409)];

export const useTestEnvironments = (test: TestController) => use(() => makeTestEnvironments(test));
