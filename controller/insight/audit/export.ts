/** Exports the part of the audit log that the user may see, newest first and in pages, so that no export is held in memory. */
import {
  type AuditEntryView,
  EXPORT_LIMIT,
  ExportAudit,
  ExportBegins,
} from '../../../schemas/api/insight/audit.ts';
import type { Context } from '../../platform/operation/context.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { auditQuery } from './operations.ts';
import { findEvents } from './queries.ts';
import { readHead } from './store.ts';
import { filterScope, viewerOf } from './viewer.ts';

const PAGE = 1_000;

/** Checks the access and records the export in the audit log. `readExport` then reads the events. */
export const auditExport = mutation({
  name: 'audit.export',
  summary: 'Export the audit log as a file',
  role: 'VIEWER',
  audit: 'audit.exported',
  input: ExportAudit,
  output: ExportBegins,
  scope: filterScope,
  async run(ctx, input) {
    // Rejects invalid dates before the response begins.
    auditQuery(input, { limit: PAGE });
    viewerOf(ctx);
    const { seq } = await readHead(ctx.db);
    ctx.audit({ entityType: 'AuditLog', entityId: null, metadata: { ...input } });
    return { cursor: String(Math.min(seq + 1, Number(input.cursor ?? Number.POSITIVE_INFINITY))) };
  },
});

/** Pages of events, together at most `EXPORT_LIMIT` events. Ends early when the client disconnects. */
export async function* readExport(
  ctx: Context,
  { format: _, cursor, ...filter }: ExportAudit,
  maxEvents = EXPORT_LIMIT,
): AsyncGenerator<readonly AuditEntryView[]> {
  const viewer = viewerOf(ctx);
  let next: string | undefined = cursor;
  let left = maxEvents;
  while (left > 0 && !ctx.signal.aborted) {
    const query = auditQuery(filter, { cursor: next, limit: Math.min(PAGE, left) });
    const page = await findEvents(ctx.db, viewer, query);
    if (page.entries.length > 0) yield page.entries;
    if (page.next === null) return;
    left -= page.entries.length;
    next = String(page.next);
  }
}
