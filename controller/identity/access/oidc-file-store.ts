/** What HEADGATE_OIDC_FILE sets: that is changed there, and shown as such. */
import type { Knex } from 'knex';
import type { Context } from '../../platform/operation/context.ts';
import { preconditionFailed } from '../../platform/operation/errors.ts';
import { deleteSetting, readSetting, writeSetting } from '../../platform/runtime/settings-store.ts';

const KEY = 'oidcFile';

export type SetByFile = 'providers' | 'groups' | 'access';
export interface OidcFileState {
  /** Of the file and of the secrets that it names, as it was taken over last. Empty where it never was. */
  digest: string;
  sets: SetByFile[];
  /** Why the newest one was not taken over. */
  error: string | null;
}

export const readOidcFileState = (db: Knex): Promise<OidcFileState | null> =>
  readSetting<OidcFileState>(db, KEY);

export const writeOidcFileState = (tx: Knex, state: OidcFileState): Promise<void> =>
  writeSetting(tx, KEY, state);

export const deleteOidcFileState = (tx: Knex): Promise<void> => deleteSetting(tx, KEY);

/** The file itself is taken over as the system. @throws PRECONDITION_FAILED */
export async function assertNotSetByFile({ db, actor }: Context, what: SetByFile): Promise<void> {
  if (actor.type === 'system') return;
  const state = await readOidcFileState(db);
  if (state?.sets.includes(what))
    throw preconditionFailed(
      `${what === 'groups' ? 'What groups mean' : 'This'} stands in the file that HEADGATE_OIDC_FILE names: change it there`,
    );
}
