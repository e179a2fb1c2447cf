import type Router from '@koa/router';
import { readAccessPolicy, signIn, signOut, type UserActor } from '../../controller/identity/access/index.ts';
import { endSessionUrl, listProviders, readProviderSession } from '../../controller/identity/oidc/index.ts';
import { badRequest, unauthorized } from '../../controller/platform/operation/errors.ts';
import { SignInInput } from '../../schemas/api/identity/people.ts';
import { sentences, validator } from '../../schemas/validate.ts';
import type { RequestHandler } from '../handler.ts';
import { readJson } from '../middleware/body.ts';
import { perMinuteByAddress } from '../middleware/rate-limit.ts';
import { rejectCrossSiteChange } from '../middleware/session.ts';

const BODY_BYTES = 16 * 1024;
/** Beside the throttles, which count failures: of one address, whatever it asks, by this controller. */
const SIGN_INS_PER_MINUTE = 60;

function publicUser({ userId, name, email, isSuperAdmin, requiredAction: owes }: UserActor) {
  return { id: userId, name, email, isSuperAdmin, owes };
}

export function authRoutes(router: Router, handler: RequestHandler): void {
  const limit = perMinuteByAddress(SIGN_INS_PER_MINUTE);

  router.post('/api/auth/sign-in', async (ctx) => {
    rejectCrossSiteChange(ctx.req, handler.baseUrl);
    await limit.take(ctx.state.ipAddress);
    const input = await readJson(ctx.req, BODY_BYTES);
    const check = validator(SignInInput);
    if (!check.fits(input)) throw badRequest(sentences(check.issues(input)));
    const signedIn = await signIn(handler.context(ctx, { type: 'anonymous' }), input, {
      userAgent: ctx.get('user-agent') || null,
      deviceToken: handler.deviceCookie.read(ctx),
    });
    // The session that this browser had until now ends with the new one.
    await signOut(handler.context(ctx, await handler.actor(ctx)));
    handler.cookie.write(ctx, signedIn.token, signedIn.expiresAt);
    handler.deviceCookie.write(ctx, signedIn.device.token, signedIn.device.expiresAt);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { user: publicUser(signedIn.actor) };
  });

  router.post('/api/auth/sign-out', async (ctx) => {
    rejectCrossSiteChange(ctx.req, handler.baseUrl);
    const context = handler.context(ctx, await handler.actor(ctx));
    const atProvider = await readProviderSession(context);
    await signOut(context);
    handler.cookie.clear(ctx);
    ctx.set('Cache-Control', 'no-store');
    const redirect = atProvider && (await endSessionUrl(context, atProvider));
    ctx.body = redirect === null ? { ok: true } : { ok: true, redirect };
  });

  router.get('/api/auth/session', async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    const actor = await handler.actor(ctx);
    if (actor.type !== 'user') throw unauthorized();
    ctx.body = { user: publicUser(actor) };
  });

  router.get('/api/auth/providers', async (ctx) => {
    const providers = await listProviders(handler.db);
    const { onlyByProvider } = await readAccessPolicy(handler.db);
    const password = {
      ...{ id: 'password', name: 'Email and password' },
      // For break-glass accounts: pages keep it out of the way.
      ...(onlyByProvider && providers.length > 0 && { isBreakGlass: true }),
    };
    ctx.body = { providers: [password, ...providers] };
  });
}
