import { badRequest } from '../../platform/operation/errors.ts';

/** Length of the normalized address, which is ASCII: it must fit into a NOTIFY payload. */
const MAX_CHARS = 2_048;

/**
 * Validates the address that an agent downloads a new executable from: https, or this controller itself. BAD_REQUEST for any
 * other address, and for one that contains a user or password.
 */
export function validateDownloadUrl(text: string, baseUrl: string): string {
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text);
  if (!url)
    throw badRequest(
      'downloadUrl is not a valid address; give one such as https://example.com/headgate-agent',
    );
  if (url.username !== '' || url.password !== '')
    throw badRequest('downloadUrl contains a user or password; use an address that needs no credentials');
  const own = URL.parse(baseUrl);
  if (url.protocol !== 'https:' && url.origin !== own?.origin)
    throw badRequest(
      `downloadUrl must begin with https://, or with the address of this controller (${own?.origin}/…)`,
    );
  url.hash = '';
  if (url.href.length > MAX_CHARS)
    throw badRequest(`downloadUrl has more than ${MAX_CHARS} characters; give a shorter one`);
  return url.href;
}

/** Hides the query of a download address, which may be a signature that grants access. */
export function redactDownloadUrl(text: string): string {
  const end = text.indexOf('?');
  return end < 0 ? text : `${text.slice(0, end)}?…`;
}
