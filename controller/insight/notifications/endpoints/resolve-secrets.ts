/** The address, the secret and the headers of an endpoint as they are used now. */
import type { Context } from '../../../platform/operation/context.ts';
import { preconditionFailed } from '../../../platform/operation/errors.ts';
import { expandSecrets, readSecrets, secretReferences, secretVariable } from '../../../secrets/index.ts';
import { type EndpointSecrets, openSecrets } from './sealed-fields.ts';
import type { EndpointRow } from './store.ts';

/**
 * What git describes names secrets of the environment, which are read here: a new value counts from the next message on.
 * @throws PRECONDITION_FAILED where a secret is missing; KeyringError where a key is
 */
export async function resolveSecrets(
  { db, services: { keyring } }: Pick<Context, 'db' | 'services'>,
  endpoint: EndpointRow,
): Promise<EndpointSecrets> {
  const { id, environmentId, plainUrl, urlRef, secretRef, headerTemplates } = endpoint;
  if (environmentId === null || (plainUrl === null && urlRef === null))
    return openSecrets(keyring, id, endpoint);
  const values = await readSecrets(db, keyring, environmentId);
  const readValue = (variable: string, name: string): string => {
    const read = values.get(variable);
    if (!read)
      throw preconditionFailed(
        `the secret "${name}" of the environment is missing: create it in Secrets, or name another one in git`,
      );
    return read();
  };
  const byName = (name: string) => readValue(secretVariable(name), name);
  const headers = Object.entries(headerTemplates).map(([name, template]) => {
    const used = new Map(
      secretReferences(template)
        .filter(({ variable, optional }) => !optional || values.has(variable))
        .map(({ variable }) => [variable, readValue(variable, variable)]),
    );
    return [name, expandSecrets(template, used)];
  });
  return {
    url: urlRef === null ? (plainUrl ?? '') : byName(urlRef).trim(),
    secret: secretRef === null ? null : byName(secretRef),
    previousSecret: null,
    headers: Object.fromEntries(headers),
  };
}
