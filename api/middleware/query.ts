/**
 * A parameter that is given twice is one value to a filter in front of the controller and another to the controller:
 * such requests are refused (OWASP ASVS 5.0, 15.3.7). REST has lists, and looks itself.
 */
import type { Middleware } from 'koa';
import { badRequest } from '../../controller/platform/operation/errors.ts';

const MOST = 50;
const LOOK_THEMSELVES = ['/api/trpc/', '/api/v1/', '/api/scim/'];

/** BAD_REQUEST for a parameter that is there twice, and for more than 50 of them. */
export function rejectRepeatedParameters(querystring: string): void {
  if (querystring === '') return;
  const seen = new Set<string>();
  for (const name of new URLSearchParams(querystring).keys()) {
    if (seen.has(name)) throw badRequest(`${name.slice(0, 100)} is given more than once; give it once`);
    if (seen.size >= MOST) throw badRequest(`There are more than ${MOST} query parameters; remove some`);
    seen.add(name);
  }
}

export const plainQuery: Middleware = (ctx, next) => {
  const { path } = ctx;
  // What a page's address says is read by the page.
  const isApi = path.startsWith('/api/') || path.startsWith('/git/') || path.startsWith('/agent/');
  if (isApi && !LOOK_THEMSELVES.some((prefix) => path.startsWith(prefix)))
    rejectRepeatedParameters(ctx.querystring);
  return next();
};
