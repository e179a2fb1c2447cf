import type { Knex } from 'knex';

export async function readSealedKey(db: Knex, id: string): Promise<string | null> {
  const row: { sealed_key: string } | undefined = await db('audit_keys').where({ id }).first('sealed_key');
  return row?.sealed_key ?? null;
}

export async function insertSealedKey(tx: Knex, id: string, sealedKey: string): Promise<void> {
  await tx('audit_keys').insert({ id, sealed_key: sealedKey });
}
