/** Everything that a controller keeps, to be searched for what must be nowhere in it. */
import { execFileSync } from 'node:child_process';
import type { TestController } from '../harness/controller.ts';
import type { TestDb } from '../harness/test-db.ts';

/** Every row of every table, as JSON. */
export async function wholeDatabase(db: TestDb): Promise<string> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
     WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
  );
  const texts: string[] = [];
  for (const { name } of rows) {
    const found = await db.raw<{ rows: { text: string }[] }>(
      `SELECT to_jsonb(t)::text AS text FROM ${name} t`,
    );
    texts.push(name, ...found.rows.map(({ text }) => text));
  }
  return texts.join('\n');
}

/** Names and content of every file. */
export const wholeFolder = (folder: string): string =>
  execFileSync('sh', ['-c', 'find "$0" -type f -exec cat {} +; find "$0"', folder], {
    encoding: 'latin1',
    maxBuffer: 512 * 1024 * 1024,
  });

export const everythingStored = async (test: TestController): Promise<string> =>
  [await wholeDatabase(test.db), wholeFolder(test.config.dataDir), test.log()].join('\n');

/** The ways in which a text could have been written. */
export function writtenForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    ...new Set([
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('base64url'),
      bytes.toString('hex'),
      secret.replaceAll("'", "'\\''"),
    ]),
  ];
}
