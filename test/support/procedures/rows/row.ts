/** What each procedure is given by the tests that try them all. */

import type { Side } from '../../scenes/two-teams.ts';
import type { NOTHING, TestUser } from '../../users/person.ts';

export interface Row {
  /** Input that works for whoever has the role. `n` differs from call to call. */
  input(side: Side, n: number, root: TestUser): object | Promise<object | typeof NOTHING> | typeof NOTHING;
  /** What the input names of another team: a scope is FORBIDDEN, an object NOT_FOUND; what is one’s `own` belongs to the caller alone. */
  names: 'scope' | 'object' | 'own';
  /** Gives back what was made, where only few of it may be there at a time. */
  undo?(side: Side, output: Record<string, unknown>, caller: TestUser): Promise<unknown>;
}

export type Rows = Record<string, Row>;

export const environment = ({ environmentId }: Side) => ({ environmentId });
export const pipeline = ({ pipelineId }: Side) => ({ pipelineId });

/** Makes something; answers its id. */
export const fresh = async (root: TestUser, name: string, input: object): Promise<string> =>
  (await root.mutate<{ id: string }>(name, input)).id;

export const freshEnvironment = ({ teamId }: Side, n: number, root: TestUser) =>
  fresh(root, 'environment.create', { teamId, name: `short-lived ${n}` });
