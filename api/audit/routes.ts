/** GET /api/audit/export: the audit log as a file, by session. It is streamed, and is itself an event of the log. */
import { Readable } from 'node:stream';
import type Router from '@koa/router';
import { auditExport, readExport } from '../../controller/insight/audit/index.ts';
import {
  badRequest,
  DomainError,
  messageOf,
  unauthorized,
} from '../../controller/platform/operation/errors.ts';
import { EXPORT_LIMIT, type ExportAudit } from '../../schemas/api/insight/audit.ts';
import type { RequestHandler } from '../handler.ts';
import { CSV_HEADER, csvLine, ndjsonLine } from './export-lines.ts';

/** Each reads large parts of the log. */
const EXPORTS_AT_ONCE = 4;

const FORMS = {
  csv: { type: 'text/csv; charset=utf-8; header=present', header: CSV_HEADER, line: csvLine },
  ndjson: { type: 'application/x-ndjson', header: '', line: ndjsonLine },
} as const;

export function auditRoutes(router: Router, handler: RequestHandler): void {
  /** Whose exports are under way, in this process. */
  const running: string[] = [];

  router.get('/api/audit/export', async (ctx) => {
    // It would be logged as an export.
    if (ctx.method === 'HEAD') return;
    const actor = await handler.actor(ctx);
    if (actor.type !== 'user') throw unauthorized();
    const twice = Object.entries(ctx.query).find(([, value]) => Array.isArray(value));
    if (twice) throw badRequest(`${twice[0].slice(0, 100)} is given twice; give it once`);
    const context = handler.context(ctx, actor);
    if (running.includes(actor.userId)) throw busy('An export of yours is under way; wait for its end');
    if (running.length >= EXPORTS_AT_ONCE)
      throw busy('Others export the audit log now; try again in a minute');
    running.push(actor.userId);
    const done = () => {
      const at = running.indexOf(actor.userId);
      if (at !== -1) running.splice(at, 1);
    };
    // Ends with the response, whichever way that ends.
    ctx.res.once('close', done);
    if (ctx.res.destroyed) return done();
    const input = { ...ctx.query } as unknown as ExportAudit;
    const { cursor } = await handler.execute(auditExport, context, input);
    const { type, header, line } = FORMS[input.format];
    ctx.set('Cache-Control', 'no-store');
    ctx.set('X-Headgate-Export-Limit', String(EXPORT_LIMIT));
    ctx.attachment(`audit-${new Date(context.clock.now()).toISOString().slice(0, 10)}.${input.format}`);
    ctx.type = type;
    async function* lines() {
      if (header) yield header;
      try {
        for await (const page of readExport(context, { ...input, cursor })) {
          yield page.map(line).join('');
          // A slow reader must not read on after its user was locked or lost a role: either ends the session.
          if ((await handler.actor(ctx)).type !== 'user') throw unauthorized();
        }
      } catch (error) {
        if (!context.signal.aborted)
          handler.log.warn(
            { requestId: context.requestId, reason: messageOf(error) },
            'audit export broken off',
          );
        throw error;
      }
    }
    ctx.body = Readable.from(lines());
  });
}

const busy = (message: string) => new DomainError('TOO_MANY_REQUESTS', message, { retryAfterSeconds: 30 });
