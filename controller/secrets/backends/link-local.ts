/** Link-local addresses are no stores. */
import { lookupElsewhere as lookupUnless } from '../../platform/link-local.ts';
import { BackendError } from './backend.ts';

export { isLinkLocal, isLinkLocalHost } from '../../platform/link-local.ts';

export const linkLocalRefused = (host: string) =>
  new BackendError(
    'refused',
    `${host} is a link-local address, where a cloud answers the machine itself; give the address of the store`,
  );

/** Like `dns.lookup`, for `http.Agent`; fails for a name that leads there. */
export const lookupElsewhere = lookupUnless(linkLocalRefused);
