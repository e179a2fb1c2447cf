/** The state of HEADGATE_OIDC_FILE. Settings that come from the file are read-only elsewhere. */
import type { Knex } from 'knex';
import type { Context } from '../../platform/operation/context.ts';
import { preconditionFailed } from '../../platform/operation/errors.ts';
import { deleteSetting, readSetting, writeSetting } from '../../platform/runtime/settings-store.ts';

const KEY = 'oidcFile';

export type SetByFile = 'providers' | 'groups' | 'access';
export interface OidcFileState {
  /** The digest of the file and its secrets when it was last applied; empty where it never was. */
  digest: string;
  sets: SetByFile[];
  /** Why the current file could not be applied. */
  error: string | null;
}

export const readOidcFileState = (db: Knex): Promise<OidcFileState | null> =>
  readSetting<OidcFileState>(db, KEY);

export const writeOidcFileState = (tx: Knex, state: OidcFileState): Promise<void> =>
  writeSetting(tx, KEY, state);

export const deleteOidcFileState = (tx: Knex): Promise<void> => deleteSetting(tx, KEY);

/** The system itself is allowed, because it applies the file. @throws PRECONDITION_FAILED */
export async function assertNotSetByFile({ db, actor }: Context, what: SetByFile): Promise<void> {
  if (actor.type === 'system') return;
  const state = await readOidcFileState(db);
  if (state?.sets.includes(what))
    throw preconditionFailed(
      `${what === 'groups' ? 'The meaning of groups' : 'This'} is set in the file that HEADGATE_OIDC_FILE names: change it there`,
    );
}
