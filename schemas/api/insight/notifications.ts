/** Endpoints that alerts are sent to, of a team or of one environment, and what was delivered to them. */
import Type, { type Static } from 'typebox';
import { ENDPOINT_FORMATS } from '../../manifests/webhook-endpoint.ts';
import { worded } from '../../patterns.ts';
import { GitOrigin, GivenName, Id, Input, Nullable, Timestamp } from '../common.ts';
import { AlertMetric } from './alerts.ts';

/** How a message is written: `standard` follows Standard Webhooks, the others are what the product of that name takes. */
export const NotificationFormat = Type.Enum([...ENDPOINT_FORMATS]);
export type NotificationFormat = Static<typeof NotificationFormat>;

/** `collecting` and `waiting` ones are still to be sent; a `failed` one is sent again only by hand. */
export const DeliveryState = Type.Enum(['collecting', 'waiting', 'delivered', 'failed']);
export type DeliveryState = Static<typeof DeliveryState>;

export const LastDelivery = Type.Object({
  state: DeliveryState,
  /** Of the last try, or of the delivery where none was made. */
  at: Timestamp,
  error: Nullable(Type.String()),
});

export const WebhookEndpoint = Type.Object({
  id: Id,
  teamId: Id,
  /** Null for one that is sent the alerts of all environments of its team. */
  environmentId: Nullable(Id),
  /** Null for one of an environment that was made by hand. */
  name: Nullable(Type.String()),
  /** Viewers read it without what may be secret in it. */
  url: Type.String(),
  format: NotificationFormat,
  /** Metrics of the rules whose alerts it is sent; all of them for one of an environment. */
  eventTypes: Type.Array(AlertMetric),
  hasSecret: Type.Boolean(),
  /** Until then deliveries are signed with the secret before, too. */
  previousSecretUntil: Nullable(Timestamp),
  /** Of the headers that are sent along; their values are not shown. */
  headerNames: Type.Array(Type.String()),
  /** One of an environment may be described in git. */
  managedBy: Type.Enum(['ui', 'git']),
  git: Nullable(GitOrigin),
  /** The secret of the environment that holds the address, where a manifest names one. */
  urlRef: Nullable(Type.String()),
  enabled: Type.Boolean(),
  lastDelivery: Nullable(LastDelivery),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;
export const WebhookEndpointList = Type.Array(WebhookEndpoint);

/** Beside the endpoint, a secret that was generated: it is shown this once. */
export const CreatedWebhookEndpoint = Type.Object({
  ...WebhookEndpoint.properties,
  secret: Nullable(Type.String()),
});
export type CreatedWebhookEndpoint = Static<typeof CreatedWebhookEndpoint>;
export const RotatedSecret = Type.Object({
  id: Id,
  secret: Type.String(),
  /** Until then deliveries are signed with the secret before, too. */
  previousSecretUntil: Timestamp,
});

export const DeliveryKind = Type.Enum(['firing', 'resolved', 'test']);
export const NotificationDelivery = Type.Object({
  /** Also the `webhook-id` of every try. */
  id: Id,
  kind: DeliveryKind,
  /** It repeats alerts that are still open, for a receiver that forgets them. */
  repeats: Type.Boolean(),
  state: DeliveryState,
  /** Null for a test. */
  ruleName: Nullable(Type.String()),
  environmentName: Nullable(Type.String()),
  /** How many alerts it is about. */
  total: Type.Integer(),
  /** Of these alerts, the first 100. */
  eventIds: Type.Array(Type.String()),
  attempts: Type.Integer(),
  /** Of the last try; null where no answer came. */
  responseStatus: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
  durationMs: Nullable(Type.Integer()),
  createdAt: Timestamp,
  lastAttemptAt: Nullable(Timestamp),
  /** Null where it is not tried any more. */
  nextAttemptAt: Nullable(Timestamp),
  finishedAt: Nullable(Timestamp),
});
export type NotificationDelivery = Static<typeof NotificationDelivery>;
export const NotificationDeliveryList = Type.Object({
  deliveries: Type.Array(NotificationDelivery),
  /** Of all, in the 30 days that they are kept. */
  total: Type.Integer(),
});
export type NotificationDeliveryList = Static<typeof NotificationDeliveryList>;

export const NotificationPreview = Type.Object({
  /** `text/plain` of an e-mail, `application/json` of any other message. */
  contentType: Type.String(),
  /** Of an e-mail. */
  subject: Nullable(Type.String()),
  body: Type.String(),
});
export type NotificationPreview = Static<typeof NotificationPreview>;

/** `https://…`, or `mailto:` with addresses. */
const TargetUrl = Type.String({ minLength: 1, maxLength: 2_000 });
/** `whsec_` and base64, or any text, whose bytes are the key. */
const Secret = Type.String({ minLength: 8, maxLength: 256 });
const HeaderName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: worded("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", 'must be a header name: letters, digits and hyphens'),
});
const Headers = Type.Record(HeaderName, Type.String({ maxLength: 1_024 }), {
  maxProperties: 20,
  additionalProperties: false,
});
const EventTypes = Type.Array(AlertMetric, { minItems: 1, maxItems: 20 });

export const ListWebhookEndpoints = Input({ teamId: Id });
export const WebhookEndpointId = Input({ id: Id, teamId: Id });
export const CreateWebhookEndpoint = Input({
  teamId: Id,
  name: GivenName,
  url: TargetUrl,
  eventTypes: EventTypes,
  /** The signing secret, or the key of PagerDuty or Opsgenie. The format `standard` gets one where it is absent. */
  secret: Type.Optional(Secret),
  /** `standard` where absent, `email` where the URL is `mailto:`. */
  format: Type.Optional(NotificationFormat),
  headers: Type.Optional(Headers),
});
export const UpdateWebhookEndpoint = Input({
  id: Id,
  teamId: Id,
  name: Type.Optional(GivenName),
  url: Type.Optional(TargetUrl),
  eventTypes: Type.Optional(EventTypes),
  /** A new signing secret; deliveries carry both signatures for 24 hours. */
  secret: Type.Optional(Secret),
  format: Type.Optional(NotificationFormat),
  /** Replaces all of them; null removes them. */
  headers: Type.Optional(Nullable(Headers)),
});

const Take = Type.Integer({ minimum: 1, maximum: 100, default: 20 });
const Skip = Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 });
export const ListEndpointDeliveries = Input({
  webhookEndpointId: Id,
  teamId: Id,
  take: Type.Optional(Take),
  skip: Type.Optional(Skip),
});
export const RedeliverToEndpoint = Input({ deliveryId: Id, teamId: Id });
export const PreviewNotification = Input({ teamId: Id, format: NotificationFormat });

export const ListAlertWebhooks = Input({ environmentId: Id });
export const AlertWebhookId = Input({ id: Id });
export const CreateAlertWebhook = Input({
  environmentId: Id,
  url: TargetUrl,
  headers: Type.Optional(Headers),
  /** Signs the body (`X-Svc-Signature`), or is the key of PagerDuty or Opsgenie. Nothing is signed without one. */
  hmacSecret: Type.Optional(Secret),
  format: Type.Optional(NotificationFormat),
});
export const UpdateAlertWebhook = Input({
  id: Id,
  url: Type.Optional(TargetUrl),
  /** Replaces all of them; null removes them. */
  headers: Type.Optional(Nullable(Headers)),
  /** Null removes it. */
  hmacSecret: Type.Optional(Nullable(Secret)),
  enabled: Type.Optional(Type.Boolean()),
  format: Type.Optional(NotificationFormat),
});
export const ListAlertDeliveries = Input({
  webhookId: Id,
  take: Type.Optional(Take),
  skip: Type.Optional(Skip),
});
export const RedeliverAlert = Input({ deliveryId: Id });
