/** Events of the audit log as lines of a file. */
import { type CsvCell, csvRow } from '../../controller/platform/text/csv.ts';
import type { AuditEntryView } from '../../schemas/api/insight/audit.ts';

const COLUMNS = [
  ...[
    'seq',
    'createdAt',
    'actorType',
    'userId',
    'userEmail',
    'actorName',
    'action',
    'entityType',
    'entityId',
  ],
  ...['teamId', 'teamName', 'environmentId', 'environmentName', 'ipAddress', 'commitSha', 'diff', 'metadata'],
  ...['id', 'prevHash', 'hash'],
] as const satisfies readonly (keyof AuditEntryView)[];

export const CSV_HEADER = csvRow(COLUMNS);

export const csvLine = (entry: AuditEntryView): string =>
  csvRow(COLUMNS.map((column) => cell(entry[column])));

export const ndjsonLine = (entry: AuditEntryView): string => `${JSON.stringify(entry)}\n`;

function cell(value: AuditEntryView[keyof AuditEntryView]): CsvCell {
  if (value === null || typeof value !== 'object') return value;
  return value instanceof Date ? value.toISOString() : JSON.stringify(value);
}
