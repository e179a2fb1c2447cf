/** Creates and changes endpoints, of a team and of an environment alike. */
import type { NotificationFormat } from '../../../../schemas/api/insight/notifications.ts';
import { diffOf } from '../../../platform/operation/audit-entry.ts';
import type { MutationContext } from '../../../platform/operation/context.ts';
import { badRequest, preconditionFailed } from '../../../platform/operation/errors.ts';
import { newId } from '../../../platform/operation/ids.ts';
import { dropQueued } from '../deliveries/deliver.ts';
import { enqueueOpen } from '../deliveries/enqueue-store.ts';
import type { Headers } from './headers.ts';
import { isMailto, readMailto } from './mail-addresses.ts';
import { resolveSecrets } from './resolve-secrets.ts';
import { sealSecrets } from './sealed-fields.ts';
import { OVERLAP_MS } from './signing.ts';
import {
  countEndpoints,
  type EndpointOwner,
  type EndpointRow,
  insertEndpoint,
  updateEndpoint,
} from './store.ts';
import { assertTarget, formatOf } from './target.ts';

/** Of a team, and of an environment: each alert goes to all of them, and lists are not paged. */
export const MAX_ENDPOINTS = 50;

/** In audit rows: the rest of an address may be a secret. */
const hostOf = (url: string): string =>
  isMailto(url) ? readMailto(url).join(', ') : (URL.parse(url)?.host ?? '');

const entityOf = (owner: EndpointOwner) => ('teamId' in owner ? 'WebhookEndpoint' : 'AlertWebhook');
export const ownerOf = ({ teamId, environmentId }: EndpointRow): EndpointOwner =>
  environmentId === null ? { teamId } : { environmentId };

export interface NewEndpoint {
  name: string | null;
  url: string;
  format: NotificationFormat | undefined;
  eventTypes: readonly string[];
  secret: string | null;
  headers: Headers;
}

export async function createEndpoint(ctx: MutationContext, owner: EndpointOwner, given: NewEndpoint) {
  if ((await countEndpoints(ctx.db, owner)) >= MAX_ENDPOINTS)
    throw preconditionFailed(
      `There are ${MAX_ENDPOINTS} webhook endpoints here, which is the most; delete some first`,
    );
  const { url, secret, headers } = given;
  const format = formatOf(given.format, url);
  assertTarget({ format, url, secret, headers });
  const id = newId();
  const headerNames = Object.keys(headers);
  const eventTypes = [...new Set(given.eventTypes)];
  await insertEndpoint(ctx.db, {
    ...{ id, owner, at: new Date(ctx.clock.now()) },
    fields: {
      ...{ name: given.name, format, eventTypes, headerNames },
      previousSecretUntil: null,
      enabled: true,
      sealed: sealSecrets(ctx.services.keyring, id, { url, secret, previousSecret: null, headers }),
    },
  });
  const metadata = { ...(given.name === null ? {} : { name: given.name }), format, host: hostOf(url) };
  ctx.audit({
    entityType: entityOf(owner),
    entityId: id,
    metadata: { ...metadata, eventTypes, headerNames, hasSecret: secret !== null },
  });
  return id;
}

/** What is left out stays. */
export interface EndpointChange {
  name?: string | undefined;
  url?: string | undefined;
  format?: NotificationFormat | undefined;
  eventTypes?: readonly string[] | undefined;
  /** Null removes it. */
  secret?: string | null | undefined;
  /** Null removes all. */
  headers?: Headers | null | undefined;
  enabled?: boolean | undefined;
}

const subscriberOf = ({ id, teamId, environmentId }: EndpointRow, eventTypes: readonly string[]) => ({
  ...{ id, teamId: environmentId === null ? teamId : null, environmentId, eventTypes },
});

/** One that is enabled must be locked `FOR UPDATE` before. */
export async function changeEndpoint(
  ctx: MutationContext,
  row: EndpointRow,
  change: EndpointChange,
): Promise<void> {
  const { keyring } = ctx.services;
  const before = await resolveSecrets(ctx, row);
  const url = change.url ?? before.url;
  const format = change.format ?? row.format;
  const headers = change.headers === undefined ? before.headers : (change.headers ?? {});
  const secrets = nextSecrets(ctx, row, { ...before, format, given: change.secret });
  assertTarget({ format, url, secret: secrets.secret, headers });
  const fields = {
    name: change.name ?? row.name,
    format,
    eventTypes: change.eventTypes ? [...new Set(change.eventTypes)] : row.eventTypes,
    headerNames: Object.keys(headers),
    enabled: change.enabled ?? row.enabled,
  };
  const { secret, previousSecret, previousSecretUntil } = secrets;
  await updateEndpoint(ctx.db, row.id, new Date(ctx.clock.now()), {
    ...fields,
    previousSecretUntil,
    sealed: sealSecrets(keyring, row.id, { url, secret, previousSecret, headers }),
  });
  if (row.enabled && !fields.enabled) await dropQueued(ctx, row.id);
  if (!row.enabled && fields.enabled) await enqueueOpen(ctx, subscriberOf(row, fields.eventTypes));
  ctx.audit({
    entityType: entityOf(ownerOf(row)),
    entityId: row.id,
    diff: diffOf({ ...row, host: hostOf(before.url) }, { ...fields, host: hostOf(url) }),
    metadata: {
      ...(fields.name === null ? {} : { name: fields.name }),
      urlChanged: url !== before.url,
      secretChanged: secret !== before.secret,
      headersChanged: change.headers !== undefined,
    },
  });
}

interface SecretChange {
  secret: string | null;
  previousSecret: string | null;
  format: NotificationFormat;
  given: string | null | undefined;
}

/** A signing secret goes on for a day beside its successor; a secret of another format means nothing in the new one. */
function nextSecrets(
  ctx: MutationContext,
  row: EndpointRow,
  { secret, previousSecret, format, given }: SecretChange,
) {
  if (format !== row.format) {
    if (format === 'standard' && row.environmentId === null && !given)
      throw badRequest(
        'secret: messages of the format standard are signed; give a secret with the new format',
      );
    return { secret: given ?? null, previousSecret: null, previousSecretUntil: null };
  }
  if (given === undefined || given === secret)
    return { secret, previousSecret, previousSecretUntil: row.previousSecretUntil };
  const overlaps = format === 'standard' && given !== null && secret !== null;
  if (!overlaps) return { secret: given, previousSecret: null, previousSecretUntil: null };
  return {
    secret: given,
    previousSecret: secret,
    previousSecretUntil: new Date(ctx.clock.now() + OVERLAP_MS),
  };
}
