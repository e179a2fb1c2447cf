/** An address that somebody gave the controller to ask, in the one form in which it is checked and asked. */
import { isIP } from 'node:net';
import type { TargetPolicy } from './addresses.ts';
import type { Failure } from './failure.ts';

export type OutgoingFault =
  /** Nothing answers, or it may not be asked: nobody learns here what listens in a private network. */
  | 'unreachable'
  /** It began to answer, and came to no end. */
  | 'slow'
  | 'too-large'
  /** It leads elsewhere, and that is not followed. */
  | 'redirected';

/** The message is for people, and names the host and nothing of its answer. */
export class OutgoingError extends Error {
  override readonly name = 'OutgoingError';
  readonly fault: OutgoingFault;
  /** What happened, for the log; the message tells it of hosts that the operator has listed alone. */
  readonly reason: string | null;
  /** The policy does not allow the target, so that asking again is of no use. */
  readonly isForbidden: boolean;
  constructor(fault: OutgoingFault, message: string, reason: string | null = null, isForbidden = false) {
    super(message);
    this.fault = fault;
    this.reason = reason;
    this.isForbidden = isForbidden;
  }
}

export interface Target {
  url: URL;
  /** Without brackets. */
  host: string;
  port: number;
  transport: 'http' | 'https';
  /** Plain http, or a port that serves other things: only what the operator has named is asked so. */
  listedOnly: boolean;
}

const MOST = 2_000;
/** Where HTTP is served; behind others there may be what takes HTTP for its own commands. */
const USUAL_PORTS = new Set([443, 8080, 8443, 9443]);

/** Users see `failure` where `isListed`: the operator names the host, so that it is no secret. */
export const unreachable = (url: URL, failure: Failure | null = null, isListed = false): OutgoingError =>
  new OutgoingError(
    'unreachable',
    failure !== null && isListed
      ? `${url.origin} cannot be reached: ${failure.words}`
      : `${url.origin} does not answer, or may not be asked: HEADGATE_PRIVATE_TARGETS has to name what is in a private network, behind http:// or at an unusual port`,
    failure && `${failure.words} (${failure.code})`,
    failure?.isForbidden,
  );

/** Users read what they read of any target that does not answer. */
export function forbiddenTarget(url: URL): OutgoingError {
  const { fault, message } = unreachable(url);
  return new OutgoingError(fault, message, null, true);
}

/** Decimal, octal, hexadecimal and short IPv4 addresses, other scripts and a dot at the end: all become one form. @throws OutgoingError */
export function readTarget(address: string | URL, policy: TargetPolicy): Target {
  const given = String(address);
  const url = given.length > MOST ? null : URL.parse(given);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new OutgoingError(
      'unreachable',
      `an address must begin with https:// and have at most ${MOST} characters`,
      null,
      true,
    );
  if (url.username !== '' || url.password !== '')
    throw new OutgoingError('unreachable', 'an address must hold no user name and no password', null, true);
  url.hash = '';
  // `localhost.` is localhost, and the list of the operator knows names without it.
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0) url.hostname = url.hostname.replace(/\.$/, '');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const transport = url.protocol === 'https:' ? 'https' : 'http';
  const port = Number(url.port || (transport === 'https' ? 443 : 80));
  const listedOnly = transport === 'http' || !USUAL_PORTS.has(port);
  // Names are checked by what they lead to, when they are looked up.
  if (host === '' || (isIP(host) !== 0 && !policy.permits(host, host, listedOnly)))
    throw forbiddenTarget(url);
  return { url, host, port, transport, listedOnly };
}
