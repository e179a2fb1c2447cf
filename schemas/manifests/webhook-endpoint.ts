/** An endpoint that the alerts of the environment are sent to. Git holds no secret: the manifest names secrets. */
import Type, { type Static } from 'typebox';
import { ALERT_METRICS } from './alert-rule.ts';
import { manifest, PrintableName, Strict, type WithDefaults } from './common.ts';

export const ENDPOINT_FORMATS = [
  'standard',
  'slack',
  'teams',
  'pagerduty',
  'opsgenie',
  'alertmanager',
  'email',
] as const;

const secretName = (description: string) =>
  Type.String({ description, minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9_.-]+$' });

export const WebhookEndpointSpecSchema = Strict('Where alerts are sent to, and how.', {
  url: Type.Optional(
    Type.String({
      description:
        'The address: https://…, or mailto: with addresses. One that is a secret goes into urlRef.',
      minLength: 1,
      maxLength: 2_000,
    }),
  ),
  urlRef: Type.Optional(
    secretName('The name of a secret of the environment that holds the address, in the place of url.'),
  ),
  format: Type.Enum([...ENDPOINT_FORMATS], { description: 'How a message is written.' }),
  eventTypes: Type.Optional(
    Type.Array(Type.Enum([...ALERT_METRICS]), {
      description: 'Metrics of the rules whose alerts are sent. Absent: all.',
      minItems: 1,
      maxItems: ALERT_METRICS.length,
    }),
  ),
  headers: Type.Optional(
    Type.Record(
      Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$" }),
      Type.String({
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder as it is written in a manifest
        description: 'The value; a secret is written as its placeholder, such as ${SVC_SECRET_TOKEN}.',
        maxLength: 1_024,
      }),
      {
        description: 'Headers that are sent along.',
        maxProperties: 20,
        additionalProperties: false,
        default: {},
      },
    ),
  ),
  secretRef: Type.Optional(
    secretName(
      'The name of a secret of the environment that signs the messages, or is the key of PagerDuty or Opsgenie.',
    ),
  ),
  enabled: Type.Optional(Type.Boolean({ description: 'false sends nothing.', default: true })),
});

export const WebhookEndpointManifest = manifest(
  'WebhookEndpoint',
  'An endpoint that the alerts of the environment are sent to.',
  PrintableName,
  WebhookEndpointSpecSchema,
);
export type WebhookEndpointSpec = WithDefaults<
  Static<typeof WebhookEndpointSpecSchema>,
  'headers' | 'enabled'
>;
