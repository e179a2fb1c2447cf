/** The two stations of a sign-in at an identity provider: out to it, and back from it. */
import type Router from '@koa/router';
import type { Context as KoaContext } from 'koa';
import { signOut } from '../../controller/identity/access/index.ts';
import {
  beginSignIn,
  finishSignIn,
  LOGOUT_TOKEN_LENGTH,
  logOutByProvider,
  type SignInEnd,
} from '../../controller/identity/oidc/index.ts';
import type { Actor } from '../../controller/platform/operation/context.ts';
import { badRequest, forbidden, unauthorized } from '../../controller/platform/operation/errors.ts';
import { assertNoRequiredAction } from '../../controller/platform/operation/permissions.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';
import type { RequestHandler } from '../handler.ts';
import { readText } from '../middleware/body.ts';
import { perMinuteByAddress } from '../middleware/rate-limit.ts';
import { toErrorResponse } from '../middleware/request.ts';
import { createAttemptCookies } from './attempt-cookies.ts';

const PROVIDER_LENGTH = 40;
/** Of an address. */
const HINT_LENGTH = 320;
/** For one address, by this controller. Nothing can be guessed here, and a whole office may come from one address. */
const SIGN_INS_PER_MINUTE = 120;
/** Of a provider, where an administrator may end all sessions at once. */
const LOGOUTS_PER_MINUTE = 3_000;

export function oidcRoutes(router: Router, handler: RequestHandler): void {
  const out = perMinuteByAddress(SIGN_INS_PER_MINUTE);
  const back = perMinuteByAddress(SIGN_INS_PER_MINUTE);
  const logouts = perMinuteByAddress(LOGOUTS_PER_MINUTE);
  // Between the two: sealed, and sent along when the provider leads back.
  const cookies = createAttemptCookies(handler.baseUrl);

  router.get('/api/auth/oidc/login', async (ctx, following) => {
    ctx.set('Cache-Control', 'no-store');
    await toPeople(ctx, handler.log, following);
  });
  router.get('/api/auth/oidc/login', async (ctx) => {
    out.take(ctx.state.ipAddress);
    const { next, link, provider, login_hint: hint } = ctx.query;
    const linking = link === '1';
    const actor = await handler.actor(ctx);
    const owner = linking ? ownerOf(ctx, handler.baseUrl, actor) : null;
    const began = await beginSignIn(handler.context(ctx, actor), {
      ...{ next, link: owner, providerId: textOf(provider, PROVIDER_LENGTH) },
      loginHint: textOf(hint, HINT_LENGTH),
    });
    if (began.location === null) {
      ctx.redirect(problemPage('oidc_unavailable', began.next, linking));
      return;
    }
    cookies.write(ctx, began.state, began.sealed, began.expiresAt);
    ctx.redirect(began.location);
  });

  router.post('/api/auth/oidc/backchannel-logout', async (ctx) => {
    logouts.take(ctx.state.ipAddress);
    ctx.set('Cache-Control', 'no-store');
    const answer = await logOutByProvider(
      handler.context(ctx, { type: 'anonymous' }),
      await readLogoutToken(ctx),
    );
    if ('refusal' in answer) {
      ctx.status = 400;
      ctx.body = { error: 'invalid_request', error_description: answer.refusal };
      return;
    }
    ctx.status = 200;
    ctx.body = { ended: answer.ended };
  });

  router.get('/api/auth/oidc/callback', async (ctx, following) => {
    ctx.set('Cache-Control', 'no-store');
    await toPeople(ctx, handler.log, following);
  });
  router.get('/api/auth/oidc/callback', async (ctx) => {
    back.take(ctx.state.ipAddress);
    // What the address holds is of no use any more, and nobody's business.
    ctx.set('Referrer-Policy', 'no-referrer');
    const state = ctx.URL.searchParams.get('state') ?? '';
    const sealed = cookies.read(ctx, state);
    if (sealed !== undefined) cookies.clear(ctx, state);
    const context = handler.context(ctx, await handler.actor(ctx));
    const end = await finishSignIn(context, {
      search: ctx.search,
      sealed,
      userAgent: ctx.get('user-agent') || null,
    });
    if (end.type === 'signed-in') {
      // The session that this browser had until now ends with the new one.
      await signOut(context);
      handler.cookie.write(ctx, end.signedIn.token, end.signedIn.expiresAt);
    }
    // Another tab has come in meanwhile: some providers then end the sign-in of this one, Keycloak with `temporarily_unavailable`.
    ctx.redirect(context.actor.type === 'user' && cameTooLate(end) ? end.next : pageAfter(end));
  });
}

/** Errors are pages, not JSON: browsers follow these addresses, programs do not. */
async function toPeople(ctx: KoaContext, log: Logger, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (ctx.accepts('json', 'html') !== 'html') throw error;
    const { status } = toErrorResponse(error, {
      ...{ requestId: ctx.state.requestId, path: ctx.path, log },
    });
    ctx.redirect(problemPage(PROBLEM_OF[status] ?? 'oidc_failed', '/', false));
  }
}

/** By status: a link that is begun from elsewhere, or by nobody, is refused by one of the first two. */
const PROBLEM_OF: Readonly<Record<number, string>> = {
  401: 'link_refused',
  403: 'link_refused',
  429: 'too_many',
  503: 'unavailable',
};

const cameTooLate = (end: SignInEnd): boolean =>
  end.type === 'problem' &&
  !end.linking &&
  (end.problem === 'oidc_expired' || end.problem === 'oidc_unavailable');

/** Null for one that is not there; of several none is meant. */
const textOf = (value: unknown, length: number): string | null =>
  typeof value === 'string' && value !== '' && value.length <= length ? value : null;

/** Section 2.5: a form with `logout_token`. */
async function readLogoutToken(ctx: KoaContext): Promise<string> {
  if (!ctx.is('application/x-www-form-urlencoded'))
    throw badRequest('Content-Type must be application/x-www-form-urlencoded');
  const form = new URLSearchParams(await readText(ctx.req, LOGOUT_TOKEN_LENGTH));
  const [token, ...more] = form.getAll('logout_token');
  if (!token || more.length > 0) throw badRequest('Give logout_token once');
  return token;
}

function pageAfter(end: SignInEnd): string {
  switch (end.type) {
    case 'signed-in':
      return end.next;
    case 'linked':
      return withParameter(end.next, 'linked', '1');
    case 'problem':
      return problemPage(end.problem, end.next, end.linking);
  }
}

function problemPage(problem: string, next: string, linking: boolean): string {
  if (linking) return withParameter(next, 'problem', problem);
  const page = withParameter('/sign-in', 'problem', problem);
  return next === '/' ? page : withParameter(page, 'next', next);
}

/** Of an own path. */
function withParameter(path: string, name: string, value: string): string {
  const url = new URL(path, 'http://own');
  url.searchParams.set(name, value);
  return `${url.pathname}${url.search}${url.hash}`;
}

/** Whose account is to be linked. */
function ownerOf(ctx: KoaContext, baseUrl: string, actor: Actor): { userId: string; sessionId: string } {
  if (actor.type !== 'user') throw unauthorized();
  refuseForeignLink(ctx, baseUrl);
  assertNoRequiredAction(actor);
  return { userId: actor.userId, sessionId: actor.sessionId };
}

/**
 * Another site must not begin this: it could have the browser signed in at the provider as somebody else before, who would
 * then get into this account. Browsers tell where a request comes from by one of these, and http:// has the second alone.
 */
function refuseForeignLink(ctx: KoaContext, baseUrl: string): void {
  const site = ctx.get('sec-fetch-site');
  const referrer = URL.parse(ctx.get('referer'));
  const ours = site === '' ? referrer?.origin === new URL(baseUrl).origin : site === 'same-origin';
  if (!ours) throw forbidden('Begin to link from your profile');
}
