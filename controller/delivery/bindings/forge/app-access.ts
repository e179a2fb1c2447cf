/** Git access to a repository through the GitHub App of its forge. */
import { isDeepStrictEqual } from 'node:util';
import { type Keyring, KeyringError } from '../../../platform/crypto/keyring.ts';
import { badRequest } from '../../../platform/operation/errors.ts';
import { type OpenedCredentials, openCredentials, sealCredentials } from '../../repository/index.ts';
import type { ForgeColumns } from '../store.ts';
import { openForgeToken } from './forge-secrets.ts';

interface Access {
  sealedCredentials: string | null;
}

/** Returns null when no key opens the credentials; they count as unchanged then. */
function opened(keyring: Keyring, id: string, { sealedCredentials }: Access): OpenedCredentials | null {
  try {
    return openCredentials(keyring, { id, sealedCredentials });
  } catch (error) {
    if (error instanceof KeyringError) return null;
    throw error;
  }
}

export const isByApp = (keyring: Keyring, id: string, access: Access): boolean =>
  opened(keyring, id, access)?.type === 'app';

/**
 * The credentials sealed with the app of the forge; unchanged when they hold that app already.
 * @throws BAD_REQUEST when the forge has no app
 */
export function sealApp(keyring: Keyring, id: string, before: Access, forge: ForgeColumns): string | null {
  const { forgeAppId, forgeUrl, forgeProject, sealedForgeToken } = forge;
  const privateKey = openForgeToken(keyring, { id, sealedForgeToken });
  if (forgeAppId === null || forgeUrl === null || forgeProject === null || privateKey === null)
    throw badRequest(
      'credentials: git is let in by the GitHub App of the forge, and there is none; give forge.app as well, or other credentials',
    );
  const app: OpenedCredentials = {
    ...{ type: 'app', id: forgeAppId, privateKey, url: forgeUrl, project: forgeProject },
  };
  const known = opened(keyring, id, before);
  return isDeepStrictEqual(known, app) ? before.sealedCredentials : sealCredentials(keyring, id, app);
}
