import type { OptionReader } from '../config/option-reader.ts';

/**
 * Reads `uri` and `auth`. What `uri` has before its host is taken as user and password.
 * Errors never quote a value: it may be an expanded secret.
 */
export function readCredentials(options: OptionReader): { url: string; authorization: string | undefined } {
  const url = readUri(options);
  const own = readAuth(options);
  const inUri =
    url.username || url.password
      ? basic(decodeURIComponent(url.username), decodeURIComponent(url.password))
      : undefined;
  if (own && inUri) options.fail('Two authorization credentials was provided.');
  url.username = '';
  url.password = '';
  return { url: url.href, authorization: own ?? inUri };
}

function readUri(options: OptionReader): URL {
  const text = options.requiredString('uri');
  if (text.includes('{{')) options.fail('templates in `uri` are not available in headgate-engine');
  const withScheme = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    options.fail('`uri` must be an address that begins with http:// or https://');
  }
  return url;
}

function readAuth(options: OptionReader): string | undefined {
  if (!options.has('auth')) return undefined;
  const auth = options.nested('auth');
  const strategy = auth.oneOf('strategy', ['basic', 'bearer']);
  let authorization: string;
  if (strategy === 'basic')
    authorization = basic(auth.requiredString('user'), auth.requiredString('password'));
  else {
    const token = auth.requiredString('token');
    if (!/^[\x21-\x7e]+$/.test(token)) auth.fail('`auth.token` must be printable ASCII without spaces');
    authorization = `Bearer ${token}`;
  }
  auth.finish();
  return authorization;
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
