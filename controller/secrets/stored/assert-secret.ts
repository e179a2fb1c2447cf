/** What a user may store as a secret, and where. */
import type { Context } from '../../platform/operation/context.ts';
import { badRequest, forbidden } from '../../platform/operation/errors.ts';
import { isWithinOwnPrefix } from './backend-setting.ts';

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
