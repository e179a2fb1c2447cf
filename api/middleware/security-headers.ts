/**
 * What every answer tells a browser: nothing of it may be run, framed, sniffed or cached, unless a route says otherwise.
 * OWASP ASVS 5.0, V3.4.
 */
import { randomBytes } from 'node:crypto';
import type { Middleware } from 'koa';
import helmet from 'koa-helmet';

/** Two years, which browsers require of hosts on their preload list. */
const STRICT_TRANSPORT = { maxAge: 63_072_000, includeSubDomains: true };

/** What browsers can do and no page of Headgate asks for. */
const UNUSED_FEATURES = [
  'accelerometer',
  'autoplay',
  'browsing-topics',
  'camera',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'geolocation',
  'gyroscope',
  'hid',
  'idle-detection',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'publickey-credentials-get',
  'screen-wake-lock',
  'serial',
  'usb',
  'xr-spatial-tracking',
];

/** Of what nodes ask thousands of times a second, and no browser reads. */
export const NODE_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

/** Before everything else, so that refusals and faults have them too. */
export function securityHeaders(baseUrl: string): Middleware {
  const features = UNUSED_FEATURES.map((feature) => `${feature}=()`).join(', ');
  const all = helmet({
    // Of data: what a browser would make of it can load nothing and be framed by nobody. A page has a policy of its own.
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    strictTransportSecurity: baseUrl.startsWith('https:') ? STRICT_TRANSPORT : false,
    referrerPolicy: { policy: 'same-origin' },
    crossOriginEmbedderPolicy: { policy: 'require-corp' },
    crossOriginOpenerPolicy: { policy: 'same-origin' },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    xFrameOptions: { action: 'deny' },
  });
  return (ctx, next) => {
    ctx.set(NODE_HEADERS);
    if (ctx.path.startsWith('/api/agent/')) return next();
    ctx.set('Permissions-Policy', features);
    return all(ctx, next);
  };
}

/** For one answer that holds the page: its `<style>` elements are known by the nonce. */
export function pagePolicy(): { nonce: string; policy: string } {
  const nonce = randomBytes(16).toString('base64url');
  return {
    nonce,
    policy: [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      // What a browser writes itself while somebody types into an editor; a style attribute runs nothing and loads nothing.
      "style-src-attr 'unsafe-inline'",
      "img-src 'self' data:",
      "font-src 'self'",
      "connect-src 'self'",
      "manifest-src 'self'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types default',
    ].join('; '),
  };
}

/** What everybody may read, from any page. Never with credentials, so that no session is used on behalf of others. */
export function openToEveryOrigin(ctx: { set(name: string, value: string): void }): void {
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
}
