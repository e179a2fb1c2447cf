import type { Knex } from 'knex';
import type {
  DeliveryState,
  NotificationFormat,
  WebhookEndpoint,
} from '../../../../schemas/api/notifications.ts';
import { brokeUnique } from '../../../database/errors.ts';
import { conflict } from '../../../platform/operation/errors.ts';
import type { SealedSecrets } from './sealed-fields.ts';

/** Of a whole team, or of one environment. */
export type EndpointOwner = { teamId: string } | { environmentId: string };

export interface EndpointRow extends SealedSecrets {
  id: string;
  teamId: string;
  environmentId: string | null;
  name: string | null;
  managedBy: 'ui' | 'git';
  /** Of one that git describes, in the place of sealed texts. */
  plainUrl: string | null;
  urlRef: string | null;
  secretRef: string | null;
  headerTemplates: Record<string, string>;
  format: NotificationFormat;
  eventTypes: WebhookEndpoint['eventTypes'];
  headerNames: string[];
  previousSecretUntil: Date | null;
  enabled: boolean;
  createdAt: Date;
  updatedAt: Date;
}

export interface LastDeliveryRow {
  lastState: DeliveryState | null;
  lastAt: Date | null;
  lastError: string | null;
}

const COLUMNS = `w.id, coalesce(w.team_id, e.team_id) AS "teamId", w.environment_id AS "environmentId", w.name, w.format,
  w.managed_by AS "managedBy", w.plain_url AS "plainUrl", w.url_ref AS "urlRef", w.secret_ref AS "secretRef",
  w.header_templates AS "headerTemplates",
  w.event_types AS "eventTypes", w.header_names AS "headerNames", w.previous_secret_until AS "previousSecretUntil",
  w.enabled, w.created_at AS "createdAt", w.updated_at AS "updatedAt",
  w.sealed_url, w.sealed_secret, w.sealed_previous_secret, w.sealed_headers`;
const FROM = 'FROM webhook_endpoints w LEFT JOIN environments e ON e.id = w.environment_id';
const LAST = `LEFT JOIN LATERAL (
    SELECT d.state, coalesce(d.last_attempt_at, d.created_at) AS at, d.last_error FROM notification_deliveries d
    WHERE d.endpoint_id = w.id ORDER BY d.seq DESC LIMIT 1) l ON true`;
const LAST_COLUMNS = `l.state AS "lastState", l.at AS "lastAt", l.last_error AS "lastError"`;

const ownerOf = (owner: EndpointOwner) =>
  'teamId' in owner
    ? ({ column: 'team_id', id: owner.teamId } as const)
    : ({ column: 'environment_id', id: owner.environmentId } as const);

export async function listEndpoints(
  db: Knex,
  owner: EndpointOwner,
): Promise<(EndpointRow & LastDeliveryRow)[]> {
  const { column, id } = ownerOf(owner);
  const { rows } = await db.raw<{ rows: (EndpointRow & LastDeliveryRow)[] }>(
    `SELECT ${COLUMNS}, ${LAST_COLUMNS} ${FROM} ${LAST} WHERE w.${column} = ? AND w.tombstoned_at IS NULL ORDER BY lower(w.name), w.id`,
    [id],
  );
  return rows;
}

export async function findEndpoint(db: Knex, id: string): Promise<(EndpointRow & LastDeliveryRow) | null> {
  const { rows } = await db.raw<{ rows: (EndpointRow & LastDeliveryRow)[] }>(
    `SELECT ${COLUMNS}, ${LAST_COLUMNS} ${FROM} ${LAST} WHERE w.id = ? AND w.tombstoned_at IS NULL`,
    [id],
  );
  return rows[0] ?? null;
}

/** Locked until the transaction ends; deliveries may be queued for it meanwhile. */
export async function lockEndpoint(tx: Knex, id: string): Promise<EndpointRow | null> {
  const { rows } = await tx.raw<{ rows: EndpointRow[] }>(
    `SELECT ${COLUMNS} ${FROM} WHERE w.id = ? AND w.tombstoned_at IS NULL FOR NO KEY UPDATE OF w`,
    [id],
  );
  return rows[0] ?? null;
}

export async function countEndpoints(db: Knex, owner: EndpointOwner): Promise<number> {
  const { column, id } = ownerOf(owner);
  const row = await db('webhook_endpoints')
    .where({ [column]: id })
    .whereNull('tombstoned_at')
    .count({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
}

/** What a user may change of it, and the texts that are sealed. */
export interface EndpointFields {
  name: string | null;
  format: NotificationFormat;
  eventTypes: string[];
  headerNames: string[];
  previousSecretUntil: Date | null;
  enabled: boolean;
  sealed: SealedSecrets;
}

const columnsOf = ({ name, format, enabled, sealed, ...fields }: EndpointFields) => ({
  ...{ name, format, enabled, ...sealed },
  event_types: fields.eventTypes,
  header_names: fields.headerNames,
  previous_secret_until: fields.previousSecretUntil,
});

export async function insertEndpoint(
  tx: Knex,
  endpoint: { id: string; owner: EndpointOwner; at: Date; fields: EndpointFields },
): Promise<void> {
  const { id, owner, at, fields } = endpoint;
  const { column, id: ownerId } = ownerOf(owner);
  await tx('webhook_endpoints')
    .insert({ id, [column]: ownerId, created_at: at, updated_at: at, ...columnsOf(fields) })
    .catch((error: unknown) => {
      throw toConflict(error, fields.name);
    });
}

/** What named secrets holds them sealed from here on. */
const SEALED = { plain_url: null, url_ref: null, secret_ref: null, header_templates: '{}' };

export async function updateEndpoint(tx: Knex, id: string, at: Date, fields: EndpointFields): Promise<void> {
  await tx('webhook_endpoints')
    .where({ id })
    .update({ ...columnsOf(fields), ...SEALED, updated_at: at })
    .catch((error: unknown) => {
      throw toConflict(error, fields.name);
    });
}

/** Endpoints of the environment that are sent nothing, tombstoned ones included. */
export async function listDisabled(db: Knex, environmentId: string): Promise<string[]> {
  return db('webhook_endpoints').where({ environment_id: environmentId, enabled: false }).pluck('id');
}

/** With its deliveries. */
export async function deleteEndpoint(tx: Knex, id: string): Promise<void> {
  await tx('webhook_endpoints').where({ id }).delete();
}

function toConflict(error: unknown, name: string | null): unknown {
  return brokeUnique(error, 'webhook_endpoints_name_unique')
    ? conflict(`A webhook endpoint named "${name}" exists already in this team; choose another name`)
    : error;
}
