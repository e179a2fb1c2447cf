import { badRequest } from '../../platform/operation/errors.ts';

/** Of the address in its own form, which is ASCII: it has to fit a signal. */
const MAX_CHARS = 2_048;

/**
 * The address that an agent may load a new executable from: by https, or from this very controller. BAD_REQUEST for any
 * other, and for one with a user or password in it.
 */
export function checkedDownload(text: string, baseUrl: string): string {
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text);
  if (!url)
    throw badRequest('downloadUrl is no address; give one such as https://example.com/headgate-agent');
  if (url.username !== '' || url.password !== '')
    throw badRequest('downloadUrl holds a user or password; put the file where none is needed');
  const own = URL.parse(baseUrl);
  if (url.protocol !== 'https:' && url.origin !== own?.origin)
    throw badRequest(`downloadUrl must begin with https://, or be of this controller (${own?.origin}/…)`);
  url.hash = '';
  if (url.href.length > MAX_CHARS)
    throw badRequest(`downloadUrl has more than ${MAX_CHARS} characters; give a shorter one`);
  return url.href;
}

/** As people see it: what follows the question mark may be a signature that lets whoever has it in. */
export function presentDownload(text: string): string {
  const end = text.indexOf('?');
  return end < 0 ? text : `${text.slice(0, end)}?…`;
}
