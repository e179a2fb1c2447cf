/** Events of the audit log as lines of a file. */
import type { AuditEntryView } from '../../schemas/api/audit.ts';

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

/** RFC 4180: lines end with CR LF. */
const END = '\r\n';

export const CSV_HEADER = `${COLUMNS.join(',')}${END}`;

export const csvLine = (entry: AuditEntryView): string =>
  `${COLUMNS.map((column) => cell(entry[column])).join(',')}${END}`;

export const ndjsonLine = (entry: AuditEntryView): string => `${JSON.stringify(entry)}\n`;

function cell(value: AuditEntryView[keyof AuditEntryView]): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return quoted(value);
  return quoted(value instanceof Date ? value.toISOString() : JSON.stringify(value));
}

/** What a spreadsheet would take for a formula begins with an apostrophe (OWASP, CSV injection). */
function quoted(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
