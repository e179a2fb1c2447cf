/**
 * Where the controller may connect to for its users: the one check behind secret stores, git remotes, forges and identity
 * providers. Public addresses are allowed; loopback, private and link-local ones only where HEADGATE_PRIVATE_TARGETS lists
 * them; the metadata services of clouds never.
 */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { isIP } from 'node:net';
import type { Logger } from '../../runtime/logger.ts';
import { createTargetPolicy, type TargetPolicy } from './addresses.ts';

/** The reason is for the log alone: users get the message of `unreachable`. */
export class TargetRefusedError extends Error {
  override readonly name = 'TargetRefusedError';
}

/** Whether an error code says that a certificate is not trusted. */
export const isUntrusted = (code: string): boolean =>
  /CERT|SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)|ERR_TLS/.test(code);

type Found = (error: Error | null, address: string | LookupAddress[], family?: number) => void;
export type Lookup = (host: string, options: LookupOptions, found: Found) => void;

export interface TargetGuard {
  readonly policy: TargetPolicy;
  /**
   * Without a lookup: for an address that is to be stored, for a literal address before it is connected to, and for a host
   * that a proxy looks up. @throws TargetRefusedError
   */
  assertHost(host: string): void;
  /**
   * Every address of the host, to be connected to without another lookup.
   * @throws TargetRefusedError where any of them is not allowed; the error of the name server where it knows none.
   */
  resolve(host: string): Promise<string[]>;
  /** Like `dns.lookup`, for agents. Agents do not look literal addresses up: those are for `assertHost`. */
  readonly lookup: Lookup;
  /**
   * The one message for a target that is refused, closed, filtered, silent or unknown: users learn nothing of a private
   * network from it. The reason goes to the log.
   */
  unreachable(target: string, reason: unknown): string;
  /** To the log alone. */
  note(target: string, reason: unknown): void;
}

declare module '../../operation/context.ts' {
  interface Services {
    targetGuard: TargetGuard;
  }
}

/** Without brackets, in lower case, without the dot of an absolute name: as the operator's list has it. */
const normalHost = (host: string): string =>
  host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();

/**
 * A lookup that fails for a name with any address that `mayConnect` refuses: one good address beside a bad one would let the
 * connection choose.
 */
export function checkedLookup(mayConnect: (host: string, address: string) => boolean): Lookup {
  return (host, options, found) => {
    // All of them, however few are asked for.
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return found(error, [], 0);
      const refused = addresses.find(({ address }) => !mayConnect(normalHost(host), address));
      if (refused) return found(refusal(host, refused.address), [], 0);
      const [first] = addresses;
      if (options.all) found(null, addresses);
      else found(null, first?.address ?? '', first?.family ?? 0);
    });
  };
}

const refusal = (host: string, address: string): TargetRefusedError =>
  new TargetRefusedError(
    `${host === address ? host : `${host} is at ${address}, which`} is not public and not in HEADGATE_PRIVATE_TARGETS, or is a metadata service`,
  );

/** A code where there is one, since texts may quote what was sent. */
function reasonOf(reason: unknown): string {
  if (typeof reason === 'string') return reason;
  if (reason instanceof TargetRefusedError) return reason.message;
  const { cause, code, name } = reason as { cause?: unknown; code?: unknown; name?: unknown };
  if (cause instanceof TargetRefusedError) return cause.message;
  return String(code ?? (cause as { code?: unknown } | undefined)?.code ?? name ?? 'unknown');
}

export function createTargetGuard(privateTargets: readonly string[], log: Logger): TargetGuard {
  const policy = createTargetPolicy(privateTargets);
  const checked = checkedLookup((host, address) => policy.permits(host, address, false));

  function assertHost(given: string): void {
    const host = normalHost(given);
    if (!policy.permitsUnseen(host, false)) throw refusal(host, host);
  }
  const note = (target: string, reason: unknown) =>
    log.info({ target, reason: reasonOf(reason).slice(0, 300) }, 'a target was not reached');
  return {
    policy,
    note,
    assertHost,
    lookup: checked,
    async resolve(given) {
      const host = normalHost(given);
      if (isIP(host) !== 0) {
        assertHost(host);
        return [host];
      }
      return await new Promise((resolve, reject) => {
        checked(given, { all: true }, (error, addresses) => {
          if (error) reject(error);
          else resolve((addresses as LookupAddress[]).map(({ address }) => address));
        });
      });
    },
    unreachable(target, reason) {
      note(target, reason);
      return `${target} cannot be reached: nothing answers there, or it is at a private address that HEADGATE_PRIVATE_TARGETS does not list; check the address, or ask the operator of this controller, whose log names the reason`;
    },
  };
}
