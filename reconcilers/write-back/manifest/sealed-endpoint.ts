/**
 * An endpoint that was made by hand, as a manifest: its address and secrets are encrypted, so the manifest names secrets of
 * the environment that users create. The id is in their names: no secret that exists already is meant by chance.
 */
import type { StoredWebhookEndpoint } from '../../../controller/delivery/bindings/index.ts';
import { secretVariable } from '../../../controller/secrets/index.ts';

const KEYS: Partial<Record<StoredWebhookEndpoint['format'], string>> = {
  pagerduty: 'its integration key',
  opsgenie: 'its API key',
};

/** Names of secrets have at most 100 characters. */
const PART = 60;

const secretName = ({ id }: StoredWebhookEndpoint, part: string): string =>
  `webhook-${id}-${part.replaceAll(/[^A-Za-z0-9]+/g, '-').slice(0, PART)}`.toLowerCase();

/** The object with a name of a secret in the place of each encrypted text. */
export function withReferences(object: StoredWebhookEndpoint): StoredWebhookEndpoint {
  if (!object.isSealed) return object;
  return {
    ...object,
    urlRef: secretName(object, 'url'),
    secretRef: object.hasSecret ? secretName(object, 'secret') : null,
    headers: Object.fromEntries(
      object.headerNames.map((name) => [name, `\${${secretVariable(secretName(object, `header ${name}`))}}`]),
    ),
  };
}

/** What its readers have to do before git can take it over; undefined where nothing is encrypted. */
export function remarkOnSecrets(object: StoredWebhookEndpoint): string | undefined {
  if (!object.isSealed) return undefined;
  const { format, hasSecret, headerNames } = object;
  return [
    'Made by hand: its address and secrets are encrypted. Create these secrets of the environment before you commit this:',
    `  ${secretName(object, 'url')}: its address`,
    ...(hasSecret ? [`  ${secretName(object, 'secret')}: ${KEYS[format] ?? 'its signing secret'}`] : []),
    ...headerNames.map(
      (name) => `  ${secretName(object, `header ${name}`)}: the value of its header ${name}`,
    ),
  ].join('\n ');
}
