/** What a user may store as a secret, where, and by which name. */
import type { Knex } from 'knex';
import type { Context } from '../../platform/operation/context.ts';
import { badRequest, forbidden } from '../../platform/operation/errors.ts';
import { isWithinOwnPrefix } from './backend-setting.ts';
import { hasVariable, nameTaken } from './store.ts';

/** The engine gets secrets as environment variables. */
export function assertText(value: string): void {
  if (value.includes('\0') || !value.isWellFormed()) {
    throw badRequest(
      'A secret must be text without NUL, because the engine gets it as an environment variable. Encode other bytes (for example with base64) and decode them in the pipeline',
    );
  }
}

/** With the controller's identity a store contains more than the team's secrets: paths must stay below the prefix of the team. */
export function assertOwnPath({ actor }: Context, path: string, ownPrefix: string | null): void {
  if (ownPrefix === null || (actor.type === 'user' && actor.isSuperAdmin)) return;
  if (isWithinOwnPrefix(path, ownPrefix)) return;
  throw forbidden(
    `This store is read with the controller's own identity: only super admins may register or write ${
      ownPrefix === '' ? 'a path' : `a path that does not begin with ${ownPrefix}`
    }`,
  );
}

/** Two names that become one variable cannot both be stored. Checked before anything is written to an external store. */
export async function assertNameFree(db: Knex, environmentId: string, variable: string): Promise<void> {
  if (await hasVariable(db, environmentId, variable)) throw nameTaken(variable);
}
