/** The living UI-owned objects, for plans: a manifest may refer to one, or have the name of one. */
import type { Knex } from 'knex';
import type { OwnableKind } from '../../../schemas/api/delivery/git-policy.ts';
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import type { OwnedTable } from './store.ts';

export const TABLE_OF: Readonly<Record<OwnableKind, OwnedTable>> = {
  Pipeline: 'pipelines',
  AlertRule: 'alert_rules',
  NodeGroup: 'node_groups',
  Silence: 'alert_silences',
  WebhookEndpoint: 'webhook_endpoints',
};

export interface UiOwned {
  kind: OwnableKind;
  id: string;
  name: string;
  nameKey: string;
  uid: string | null;
}

export async function listOwnedByUi(db: Knex, environmentId: string): Promise<UiOwned[]> {
  const { rows } = await db.raw<{ rows: Omit<UiOwned, 'nameKey'>[] }>(
    Object.entries(TABLE_OF)
      .map(
        ([kind, table]) => `SELECT '${kind}' AS kind, id, name, uid FROM ${table}
           WHERE environment_id = :environmentId AND managed_by = 'ui' AND tombstoned_at IS NULL`,
      )
      .join(' UNION ALL '),
    { environmentId },
  );
  return rows.map((row) => ({ ...row, nameKey: nameKeyOf(row.name) }));
}

/** Gives these objects to the UI; nothing else about them changes. Returns those that git owned. */
export async function giveToUi(
  tx: Knex,
  kind: OwnableKind,
  environmentId: string,
  ids: readonly string[],
): Promise<{ id: string; name: string }[]> {
  return tx(TABLE_OF[kind])
    .where({ environment_id: environmentId, managed_by: 'git', tombstoned_at: null })
    .whereIn('id', ids)
    .update({ managed_by: 'ui' })
    .returning(['id', 'name']);
}
