/** Filter presets of environments. Callers that write lock the environment, so that the limit and the single default hold. */
import type { Knex } from 'knex';
import type { FilterPreset, PresetScope } from '../../../schemas/api/insight/preferences.ts';
import { brokeUnique } from '../../database/errors.ts';
import { conflict } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';

const SELECT = `SELECT f.id, f.environment_id AS "environmentId", f.scope, f.name, f.filters, f.is_default AS "isDefault",
    u.name AS "createdByName", f.created_at AS "createdAt", f.updated_at AS "updatedAt"
  FROM filter_presets f LEFT JOIN users u ON u.id = f.created_by_id`;

export async function listPresets(
  db: Knex,
  environmentId: string,
  scope: PresetScope,
): Promise<FilterPreset[]> {
  const { rows } = await db.raw<{ rows: FilterPreset[] }>(
    `${SELECT} WHERE f.environment_id = ? AND f.scope = ? ORDER BY lower(f.name)`,
    [environmentId, scope],
  );
  return rows;
}

export async function findPreset(db: Knex, environmentId: string, id: string): Promise<FilterPreset | null> {
  const { rows } = await db.raw<{ rows: FilterPreset[] }>(
    `${SELECT} WHERE f.environment_id = ? AND f.id = ?`,
    [environmentId, id],
  );
  return rows[0] ?? null;
}

export async function countPresets(db: Knex, environmentId: string, scope: PresetScope): Promise<number> {
  const row = await db('filter_presets')
    .where({ environment_id: environmentId, scope })
    .count({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
}

export async function insertPreset(
  tx: Knex,
  preset: Pick<FilterPreset, 'environmentId' | 'scope' | 'name' | 'filters'> & { createdById: string | null },
): Promise<string> {
  const id = newId();
  await tx('filter_presets')
    .insert({
      id,
      environment_id: preset.environmentId,
      scope: preset.scope,
      name: preset.name,
      filters: JSON.stringify(preset.filters),
      created_by_id: preset.createdById,
    })
    .catch((error: unknown) => {
      throw toConflict(error, preset.name);
    });
  return id;
}

export async function updatePreset(
  tx: Knex,
  id: string,
  content: Pick<FilterPreset, 'name' | 'filters'>,
): Promise<void> {
  await tx('filter_presets')
    .where({ id })
    .update({ name: content.name, filters: JSON.stringify(content.filters), updated_at: tx.fn.now() })
    .catch((error: unknown) => {
      throw toConflict(error, content.name);
    });
}

export async function deletePreset(tx: Knex, id: string): Promise<void> {
  await tx('filter_presets').where({ id }).delete();
}

/** Returns the id of the previous default. */
export async function clearDefaultPreset(
  tx: Knex,
  environmentId: string,
  scope: PresetScope,
): Promise<string | null> {
  const [row]: { id: string }[] = await tx('filter_presets')
    .where({ environment_id: environmentId, scope, is_default: true })
    .update({ is_default: false })
    .returning('id');
  return row?.id ?? null;
}

export async function markDefaultPreset(tx: Knex, id: string): Promise<void> {
  await tx('filter_presets').where({ id }).update({ is_default: true });
}

function toConflict(error: unknown, name: string): unknown {
  return brokeUnique(error, 'filter_presets_name_unique')
    ? conflict(`A preset named "${name}" exists already in this scope; choose another name`)
    : error;
}
