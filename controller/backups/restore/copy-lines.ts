/** Rows of an archive in the text format of COPY: a line each, tabs between values, `\N` for null. */
import { isRecord } from '../../platform/text/is-record.ts';
import { eachLine } from '../archive/lines.ts';
import type { ArchiveTable } from '../archive/manifest.ts';
import { damaged } from '../archive/read-archive.ts';

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const NEWLINE = 10;

/**
 * `content` has a JSON object a line, with a text or null for each column. Each row is written at once: a list of all rows of a
 * part would live through several collections, and V8 would enlarge its young generation for it.
 * @throws PRECONDITION_FAILED for anything else
 */
export function copyLinesOf(
  content: Buffer,
  { name, columns }: Pick<ArchiveTable, 'name' | 'columns'>,
): { lines: Buffer; rows: number } {
  // Rows are shorter without the names of their columns.
  let lines = Buffer.allocUnsafe(content.length);
  let at = 0;
  let rows = 0;
  for (const line of eachLine(content)) {
    const row = parse(line);
    if (row === null) throw damaged(`a row of ${name} is no JSON object`);
    const text = columns.map((column) => fieldOf(row[column], name, column)).join('\t');
    const end = at + Buffer.byteLength(text) + 1;
    if (end > lines.length) lines = Buffer.concat([lines.subarray(0, at)], 2 * end);
    at += lines.write(text, at);
    lines[at++] = NEWLINE;
    rows += 1;
  }
  return { lines: lines.subarray(0, at), rows };
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const row: unknown = JSON.parse(line);
    return isRecord(row) ? row : null;
  } catch {
    return null;
  }
}

function fieldOf(value: unknown, table: string, column: string): string {
  if (value === null) return '\\N';
  if (typeof value !== 'string') throw damaged(`a row of ${table} has no text in ${column}`);
  return /[\\\n\r\t]/.test(value) ? value.replaceAll(/[\\\n\r\t]/g, (sign) => ESCAPES[sign] ?? sign) : value;
}
