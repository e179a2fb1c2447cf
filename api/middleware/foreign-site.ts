/**
 * What another site makes a browser ask is answered to nobody: browsers tell by Sec-Fetch-Site, which no script can set
 * (OWASP ASVS 5.0, 3.5.8). The session's cookie goes with a link from elsewhere too, and some answers take work or leave a
 * row in the audit log.
 */
import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import { forbidden } from '../../controller/platform/operation/errors.ts';

/** Read by pages of others, or where an identity provider sends people back to. */
const FOR_OTHERS = ['/api/v1/openapi.json', '/api/auth/oidc/'];
/** Tells its refusals in a form of its own, and asks by itself. */
const PROCEDURES = '/api/trpc/';

export function rejectCrossSite({ headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') throw forbidden('This request came from another site');
}

export const sameSiteOnly: Middleware = (ctx, next) => {
  const { path } = ctx;
  const ours = path.startsWith('/api/') && !FOR_OTHERS.some((prefix) => path.startsWith(prefix));
  if (ours && !path.startsWith(PROCEDURES)) rejectCrossSite(ctx.req);
  return next();
};
