/** Where an agent may be fetched from: https, or the very origin that the node talks to anyway. */

/** Why nothing is fetched from there; undefined when it may be. `from` is the address that led here. */
export function addressProblem(text: string, serviceUrl: string, from?: URL): string | undefined {
  const url = URL.parse(text);
  if (!url) return 'the download address is not a URL';
  if (url.username || url.password)
    return 'the download address holds a user name or password: leave them out';
  if (from?.protocol === 'https:' && url.protocol !== 'https:')
    return `redirected from https to ${url.protocol.slice(0, 20).replace(/:$/, '')}, which is refused`;
  if (url.protocol === 'https:' || url.origin === new URL(serviceUrl).origin) return undefined;
  return 'the download address must begin with https://, or be on the very origin of SVC_URL';
}
