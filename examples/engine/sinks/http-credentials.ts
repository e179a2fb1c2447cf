import { optional, required, tagged, type Values } from '../config/options.ts';
import { refusal, unavailable } from '../config/refusals.ts';
import { refined, sensitiveText, text } from '../config/shape.ts';

const token = refined(sensitiveText, (value, { path }) => {
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw refusal('`auth.token` must be printable ASCII without spaces', path);
});

const uri = refined(text, (value, { path }) => {
  if (value.includes('{{')) throw unavailable('templates in uri', path);
  return value;
});

const auth = tagged(
  'strategy',
  {
    basic: {
      about: 'A name and a password.',
      options: {
        user: required(text, 'The name.', { examples: ['app'] }),
        password: required(sensitiveText, 'The password.'),
      },
    },
    bearer: {
      about: 'A token.',
      options: { token: required(token, 'The token.') },
    },
  },
  { about: 'How the engine says who it is.', name: 'vector::http::Auth', lackingCases: ['aws', 'custom'] },
);

export const CREDENTIALS = {
  uri: required(uri, 'Where to send events.', { examples: ['https://10.22.212.22:9000/endpoint'] }),
  auth: optional(auth, 'The credentials of each request.'),
};

/**
 * What `uri` has before its host is taken as user and password.
 * Errors never quote a value: it may be an expanded secret.
 */
export function credentialsOf(
  options: Values<typeof CREDENTIALS>,
  path: string,
): { url: string; authorization: string | undefined } | { error: string } {
  const url = parseUri(options.uri);
  if ('error' in url) return { error: url.error };
  const own = options.auth && authorizationOf(options.auth);
  const inUri =
    url.username || url.password
      ? basic(decodeURIComponent(url.username), decodeURIComponent(url.password))
      : undefined;
  if (own && inUri) throw refusal('Two authorization credentials was provided.', path);
  url.username = '';
  url.password = '';
  return { url: url.href, authorization: own ?? inUri };
}

/** An address, or why a text is none in the words of the library that Vector reads it with. */
function parseUri(text: string): URL | { error: string } {
  if (text === '') return { error: 'empty string' };
  if (/[^\x21-\x7e]|[{}<>"`\\^|]/.test(text)) return { error: 'invalid uri character' };
  const withScheme = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url : { error: 'invalid format' };
}

function authorizationOf(options: NonNullable<Values<typeof CREDENTIALS>['auth']>): string {
  return options.strategy === 'basic' ? basic(options.user, options.password) : `Bearer ${options.token}`;
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
