/** The audit log as a file: what somebody sees of it, newest first, in pages, so that no export is held in memory. */
import { type AuditEntryView, EXPORT_LIMIT, ExportAudit, ExportBegins } from '../../../schemas/api/audit.ts';
import type { Context } from '../../platform/operation/context.ts';
import { mutation } from '../../platform/operation/operation.ts';
import { auditQuery } from './operations.ts';
import { findEvents } from './queries.ts';
import { readHead } from './store.ts';
import { filterScope, viewerOf } from './viewer.ts';

const PAGE = 1_000;

/** Checks who may take which part of the log away, and notes that it was taken. What follows is `exportedEvents`. */
export const auditExport = mutation({
  name: 'audit.export',
  summary: 'Take the audit log away as a file',
  role: 'VIEWER',
  audit: 'audit.exported',
  input: ExportAudit,
  output: ExportBegins,
  scope: filterScope,
  async run(ctx, input) {
    // Refuses dates that are none before anything is sent.
    auditQuery(input, { limit: PAGE });
    viewerOf(ctx);
    const { seq } = await readHead(ctx.db);
    ctx.audit({ entityType: 'AuditLog', entityId: null, metadata: { ...input } });
    return { cursor: String(Math.min(seq + 1, Number(input.cursor ?? Number.POSITIVE_INFINITY))) };
  },
});

/** Pages of events, at most `EXPORT_LIMIT` of them together. Ends early where the client has gone away. */
export async function* exportedEvents(
  ctx: Context,
  { format: _, cursor, ...filter }: ExportAudit,
  most = EXPORT_LIMIT,
): AsyncGenerator<readonly AuditEntryView[]> {
  const viewer = viewerOf(ctx);
  let next: string | undefined = cursor;
  let left = most;
  while (left > 0 && !ctx.signal.aborted) {
    const asked = auditQuery(filter, { cursor: next, limit: Math.min(PAGE, left) });
    const page = await findEvents(ctx.db, viewer, asked);
    if (page.entries.length > 0) yield page.entries;
    if (page.next === null) return;
    left -= page.entries.length;
    next = String(page.next);
  }
}
