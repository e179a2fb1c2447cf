/** What callers read of an endpoint: no secret, and of its address as much as their role may know. */

import type { WebhookEndpoint } from '../../../../schemas/api/insight/notifications.ts';
import { ALERT_METRICS } from '../../../../schemas/manifests/alert-rule.ts';
import { KeyringError } from '../../../platform/crypto/keyring.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { maskedUrl } from './masked-url.ts';
import { openSecrets } from './sealed-fields.ts';
import type { EndpointRow, ListedRow } from './store.ts';

/** Users who may change the endpoint see its whole address. */
function seesUrl({ actor }: Context, { teamId, environmentId }: EndpointRow): boolean {
  if (actor.type === 'system') return true;
  if (actor.type !== 'user') return false;
  const role = actor.roles.get(teamId);
  return actor.isSuperAdmin || role === 'ADMIN' || (environmentId !== null && role === 'EDITOR');
}

/** A list must not fail for one address whose key is lost. */
function readUrl({ services }: Context, row: EndpointRow): string | null {
  if (row.plainUrl !== null) return row.plainUrl;
  try {
    return openSecrets(services.keyring, row.id, {
      sealed_url: row.sealed_url,
      ...{ sealed_secret: null, sealed_previous_secret: null, sealed_headers: null },
    }).url;
  } catch (error) {
    if (error instanceof KeyringError) return null;
    throw error;
  }
}

const UNREADABLE = 'the key that encrypts this address is missing; set the address again';

export function presentEndpoint(ctx: Context, row: EndpointRow & ListedRow): WebhookEndpoint {
  const url = readUrl(ctx, row);
  const until = row.previousSecretUntil;
  return {
    id: row.id,
    teamId: row.teamId,
    environmentId: row.environmentId,
    name: row.environmentId !== null && row.managedBy === 'ui' ? null : row.name,
    url:
      row.urlRef !== null
        ? `in the secret ${row.urlRef}`
        : url === null
          ? UNREADABLE
          : seesUrl(ctx, row)
            ? url
            : maskedUrl(row.format, url),
    format: row.format,
    eventTypes: row.environmentId === null || row.eventTypes.length > 0 ? row.eventTypes : [...ALERT_METRICS],
    hasSecret: row.sealed_secret !== null || row.secretRef !== null,
    managedBy: row.managedBy,
    git: row.git,
    urlRef: row.urlRef,
    previousSecretUntil: until && until.getTime() > ctx.clock.now() ? until : null,
    headerNames: row.headerNames,
    enabled: row.enabled,
    lastDelivery:
      row.lastState && row.lastAt ? { state: row.lastState, at: row.lastAt, error: row.lastError } : null,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
