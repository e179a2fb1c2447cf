/** Writes rows by COPY: PostgreSQL has no JSON to parse, as it would for an INSERT of a whole part. */
import type { Knex } from 'knex';
import pg from 'pg';
import type { ArchiveTable } from '../archive/manifest.ts';
import { damaged } from '../archive/read-archive.ts';

/** What pg offers to a query of COPY, which its types leave out. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** Each is copied once more into a message. */
const MESSAGE_BYTES = 256 * 1024;

/** `lines` are rows in the text format of COPY. */
export async function copyRows(
  db: Knex,
  { name, columns }: Pick<ArchiveTable, 'name' | 'columns'>,
  lines: Buffer,
): Promise<void> {
  const names = columns.map(quoted).join(', ');
  const connection: pg.Client = await db.client.acquireConnection();
  try {
    await send(connection, `COPY ${quoted(name)} (${names}) FROM STDIN`, lines);
  } catch (error) {
    throw explain(error, name);
  } finally {
    await db.client.releaseConnection(connection);
  }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function send(client: pg.Client, statement: string, lines: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const query = new pg.Query(statement, (error: Error | undefined) => (error ? reject(error) : resolve()));
    client.query(
      Object.assign(query, {
        handleCopyInResponse(connection: CopyConnection) {
          for (let at = 0; at < lines.length; at += MESSAGE_BYTES)
            connection.sendCopyFromChunk(lines.subarray(at, at + MESSAGE_BYTES));
          connection.endCopyFrom();
        },
      }),
    );
  });
}

/** PostgreSQL quotes the row in fields of its error, which would be logged. */
function explain(error: unknown, table: string): unknown {
  const { code = '' } = error as { code?: string };
  if (/^2[23]/.test(code)) return damaged(`PostgreSQL does not take its rows of ${table} (${code})`);
  return Object.assign(error as Error, { where: undefined, detail: undefined });
}
