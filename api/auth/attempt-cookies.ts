/** The cookies of sign-ins that are under way: one each, so that two tabs of a browser do not take each other's. */
import { hash } from 'node:crypto';
import type { Context as KoaContext } from 'koa';
import { createCookie } from '../middleware/cookie.ts';

/** Proxies take 8 KiB of cookies, nginx among them (`large_client_header_buffers`); the rest is for those of a session. */
const BYTES = 6_000;
const COUNT = 8;

export interface AttemptCookies {
  /** Of the sign-in with this state. */
  read(ctx: KoaContext, state: string): string | undefined;
  /** Where there are too many, the oldest go. */
  write(ctx: KoaContext, state: string, sealed: string, expires: Date): void;
  clear(ctx: KoaContext, state: string): void;
}

export function createAttemptCookies(baseUrl: string): AttemptCookies {
  const family = 'headgate.oidc-sign-in.';
  const of = (state: string) =>
    createCookie(baseUrl, `${family}${hash('sha256', state, 'hex').slice(0, 16)}`);
  const { name: prefix } = createCookie(baseUrl, family);
  return {
    read: (ctx, state) => of(state).read(ctx),
    clear: (ctx, state) => of(state).clear(ctx),
    write(ctx, state, sealed, expires) {
      let bytes = sealed.length;
      // RFC 6265, 5.4: browsers send those first that they have had for longest.
      const others = namesIn(ctx, prefix).reverse();
      for (const [index, [name, size]] of others.entries()) {
        bytes += size;
        if (index + 2 > COUNT || bytes > BYTES)
          createCookie(baseUrl, `${family}${name.slice(prefix.length)}`).clear(ctx);
      }
      of(state).write(ctx, sealed, expires);
    },
  };
}

/** With the bytes that each takes. */
function namesIn(ctx: KoaContext, prefix: string): [name: string, bytes: number][] {
  return ctx
    .get('cookie')
    .split(/; */)
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => [pair.split('=')[0] ?? '', pair.length]);
}
