import type { Knex } from 'knex';
import type { GitOrigin } from '../../../../schemas/api/common.ts';
import type {
  DeliveryState,
  NotificationFormat,
  WebhookEndpoint,
} from '../../../../schemas/api/insight/notifications.ts';
import { brokeUnique } from '../../../database/errors.ts';
import { datedOrigin } from '../../../fleet/status/index.ts';
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

export interface ListedRow {
  git: GitOrigin | null;
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
const ORIGIN = "LEFT JOIN git_manifests m ON m.object_id = w.id AND m.kind = 'WebhookEndpoint'";
const LISTED_COLUMNS = `l.state AS "lastState", l.at AS "lastAt", l.last_error AS "lastError",
  CASE WHEN m.name_key IS NULL THEN NULL ELSE jsonb_build_object('path', m.path, 'line', m.line,
    'commit', m.applied_commit, 'conditions', m.conditions) END AS git`;

const withDates = <Row extends ListedRow>(row: Row): Row => ({ ...row, git: datedOrigin(row.git) });

const ownerOf = (owner: EndpointOwner) =>
  'teamId' in owner
    ? ({ column: 'team_id', id: owner.teamId } as const)
    : ({ column: 'environment_id', id: owner.environmentId } as const);

export async function listEndpoints(db: Knex, owner: EndpointOwner): Promise<(EndpointRow & ListedRow)[]> {
  const { column, id } = ownerOf(owner);
  const { rows } = await db.raw<{ rows: (EndpointRow & ListedRow)[] }>(
    `SELECT ${COLUMNS}, ${LISTED_COLUMNS} ${FROM} ${LAST} ${ORIGIN} WHERE w.${column} = ? AND w.tombstoned_at IS NULL ORDER BY lower(w.name), w.id`,
    [id],
  );
  return rows.map(withDates);
}

export async function findEndpoint(db: Knex, id: string): Promise<(EndpointRow & ListedRow) | null> {
  const { rows } = await db.raw<{ rows: (EndpointRow & ListedRow)[] }>(
    `SELECT ${COLUMNS}, ${LISTED_COLUMNS} ${FROM} ${LAST} ${ORIGIN} WHERE w.id = ? AND w.tombstoned_at IS NULL`,
    [id],
  );
  return rows[0] ? withDates(rows[0]) : null;
}

/** With `NO KEY UPDATE` deliveries may be queued for it meanwhile. */
export type EndpointLock = 'NO KEY UPDATE' | 'UPDATE';

/** Locked until the transaction ends. */
export async function lockEndpoint(
  tx: Knex,
  id: string,
  lock: EndpointLock = 'NO KEY UPDATE',
): Promise<EndpointRow | null> {
  const { rows } = await tx.raw<{ rows: EndpointRow[] }>(
    `SELECT ${COLUMNS} ${FROM} WHERE w.id = ? AND w.tombstoned_at IS NULL FOR ${lock} OF w`,
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

/** What users may change of one that git describes. */
export interface EndpointReferences {
  plainUrl: string | null;
  secretRef: string | null;
  headers: Record<string, string>;
  format: NotificationFormat;
  enabled: boolean;
}

export async function updateReferences(tx: Knex, id: string, fields: EndpointReferences): Promise<void> {
  const { plainUrl, secretRef, headers, format, enabled } = fields;
  await tx('webhook_endpoints')
    .where({ id })
    .update({
      ...{ plain_url: plainUrl, secret_ref: secretRef, format, enabled },
      ...{ header_templates: JSON.stringify(headers), header_names: Object.keys(headers) },
    });
}

/** Endpoints of the environment that are sent nothing, tombstoned ones included. */
export async function listDisabled(db: Knex, environmentId: string): Promise<string[]> {
  return db('webhook_endpoints').where({ environment_id: environmentId, enabled: false }).pluck('id');
}

/** Those of `ids` that are sent nothing, tombstoned ones included. */
export async function listDisabledOf(db: Knex, ids: readonly string[]): Promise<string[]> {
  return db('webhook_endpoints').whereIn('id', ids).where({ enabled: false }).pluck('id');
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
