import { ConfigError } from '../config.ts';
import { type OidcFileSource, readOidcFile } from '../identity/administration/index.ts';
import { messageOf } from '../platform/operation/errors.ts';

/**
 * At the start a wrong file ends the controller; later the log and Settings report it.
 * @throws ConfigError
 */
export async function assertOidcFile(source: OidcFileSource | null): Promise<void> {
  if (source === null) return;
  await readOidcFile(source).catch((error: unknown) => {
    throw new ConfigError(`HEADGATE_OIDC_FILE: ${messageOf(error)}`);
  });
}
