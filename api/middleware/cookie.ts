/** Cookies of ours: not for scripts, not sent along from other sites, and over https bound to this very host. */
import type { Context as KoaContext } from 'koa';

export interface Cookie {
  name: string;
  read(ctx: KoaContext): string | undefined;
  write(ctx: KoaContext, value: string, expires: Date): void;
  clear(ctx: KoaContext): void;
}

/** `__Host-` binds the cookie to this very host; browsers take that prefix over https only. */
export function createCookie(baseUrl: string, plainName: string): Cookie {
  const secure = baseUrl.startsWith('https:');
  const name = secure ? `__Host-${plainName}` : plainName;
  const options = {
    httpOnly: true,
    sameSite: 'lax' as const,
    path: '/',
    secure,
    signed: false,
    overwrite: true,
  };
  return {
    name,
    read: (ctx) => ctx.cookies.get(name),
    write(ctx, value, expires) {
      // Behind a proxy the connection itself is plain; the base URL tells what the browser sees.
      ctx.cookies.secure = secure;
      ctx.cookies.set(name, value, { ...options, expires });
    },
    clear(ctx) {
      ctx.cookies.secure = secure;
      ctx.cookies.set(name, null, options);
    },
  };
}
