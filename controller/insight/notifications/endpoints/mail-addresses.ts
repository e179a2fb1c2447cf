/** The addresses in a `mailto:` URL (RFC 6068), which may hold nothing else. */
import { badRequest } from '../../../platform/operation/errors.ts';

const MAX_ADDRESSES = 20;
/** Narrower than RFC 5322: no quotes, no comments, no blanks, so that no address can be anything else in a header. */
const ADDRESS =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}))*$/;

export const isMailto = (url: string): boolean => /^mailto:/i.test(url);

export function readMailto(url: string): string[] {
  const texts = url.slice('mailto:'.length).split(',');
  if (texts.length > MAX_ADDRESSES)
    throw badRequest(
      `url: a mailto: URL has at most ${MAX_ADDRESSES} addresses; use a mailing list for more`,
    );
  const addresses = texts.map(decoded);
  const bad = addresses.find((address) => !ADDRESS.test(address));
  if (bad !== undefined)
    throw badRequest(
      `url: "${bad.slice(0, 80)}" is not an e-mail address; write mailto:name@example.com, several with commas and nothing behind them`,
    );
  return addresses;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text).trim();
  } catch {
    return text.trim();
  }
}
