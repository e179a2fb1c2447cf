/** Turns errors of git, ssh and servers into messages for users: what is wrong, and what to do. */
import type { GitEnd } from '../process/git-run.ts';
import { RepositoryError, type RepositoryFault } from '../repository-error.ts';
import type { Remote } from './remote.ts';

type Explain = (remote: Remote, output: string) => string;

const LATER = 'it is tried again by itself';
const NEW_CREDENTIALS = 'give new credentials to the binding';

const authentication: Explain = ({ address: { host }, credentials }) => {
  switch (credentials.type) {
    case 'none':
      return `${host} requires credentials; give the binding a user name and a token`;
    case 'basic':
      return `${host} does not accept the user name and token of the binding; ${NEW_CREDENTIALS}`;
    case 'ssh':
      return `${host} does not accept the key of the binding; add its public half, which the page Git shows, to the keys of the repository there, or ${NEW_CREDENTIALS}`;
    case 'app':
      return `${host} does not accept the token that the GitHub App was given; let the app read and write Contents, and its installation reach the repository`;
  }
};

const forbidden: Explain = ({ address: { host } }) =>
  `${host} accepts the credentials but denies them this repository; give them access there, or ${NEW_CREDENTIALS}`;

const notFound: Explain = ({ address: { host, url }, credentials }) =>
  `${host} has no repository ${url}${
    credentials.type === 'none'
      ? ', or shows it to nobody without credentials'
      : ', or the credentials may not see it'
  }; compare the address`;

export const certificate: Explain = ({ address: { host } }, output) =>
  `the certificate of ${host} is not trusted (${output}); give the authority that signed it as caCertificate, and use an address that the certificate names`;

/** `what` completes the sentence about the proxy. */
const byProxy: Explain = ({ address: { host, transport }, proxy }, what) =>
  `${host} cannot be reached: the proxy ${proxy?.host} ${what}; check ${transport.toUpperCase()}_PROXY and NO_PROXY of the controller; ${LATER}`;

/** The answer of the proxy to CONNECT. Only 407 is about the proxy itself; other answers could reveal what is behind it. */
export function proxyFault(remote: Remote, status: string): RepositoryError {
  const { host } = remote.address;
  if (status !== '407') remote.guard.note(host, `the proxy answers with status ${status}`);
  const what =
    status !== '407'
      ? 'denies the connection, or cannot reach it either'
      : remote.proxy?.username
        ? 'does not accept its user name and password'
        : 'requires a user name and a password';
  return new RepositoryError('unreachable', byProxy(remote, what));
}

/** Not allowed, refused, closed, filtered, silent or unknown: one message for all, and the reason in the log. */
export function notReached(remote: Remote, reason: unknown): RepositoryError {
  const { code } = reason as { code?: unknown };
  const text = typeof reason === 'string' ? reason : String(code);
  // Behind a proxy the connection is made to the proxy.
  if (remote.proxy && /ECONNREFUSED|Connection refused|Failed to connect/i.test(text))
    return new RepositoryError('unreachable', byProxy(remote, 'refuses connections'));
  if (remote.proxy && /ENOTFOUND|EAI_AGAIN|could not resolve/i.test(text))
    return new RepositoryError(
      'unreachable',
      byProxy(remote, "has a name that is not known to the controller's name server"),
    );
  return new RepositoryError(
    'unreachable',
    `${remote.guard.unreachable(remote.address.host, reason)}; ${LATER}`,
  );
}

/** Call it before anything is sent. @throws RepositoryError for a host that the operator does not allow */
export function assertAllowed(remote: Remote): void {
  try {
    remote.guard.assertHost(remote.address.host);
  } catch (error) {
    throw notReached(remote, error);
  }
}

const slow: Explain = ({ address: { host } }, output) => `${host} is too slow: ${output}; ${LATER}`;

const scan: Explain = ({ address: { host, port } }) =>
  `ssh-keyscan ${port === 22 ? '' : `-p ${port} `}${host}`;

export function statusError(
  remote: Remote,
  status: number,
  extra: { retryAfterMs?: number } = {},
): RepositoryError {
  const { host } = remote.address;
  if (status === 407 && remote.proxy) return proxyFault(remote, String(status));
  if (status === 401 || status === 407) return new RepositoryError('credentials', authentication(remote, ''));
  if (status === 403) return new RepositoryError('forbidden', forbidden(remote, ''));
  if (status === 404 || status === 410) return new RepositoryError('not-found', notFound(remote, ''));
  if (status === 429) {
    const { retryAfterMs } = extra;
    return new RepositoryError(
      'asked-to-wait',
      `${host} is asked too often and asks for a pause; ${LATER}; a longer interval, with a webhook, asks less`,
      retryAfterMs === undefined ? {} : { retryAfterMs },
    );
  }
  if (status >= 300 && status < 400) return redirectError(remote, 'another address');
  if (status === 503 && extra.retryAfterMs !== undefined)
    return new RepositoryError(
      'asked-to-wait',
      `${host} is not ready (status 503) and asks for a pause of ${Math.ceil(extra.retryAfterMs / 1_000)} s; ${LATER}`,
      { retryAfterMs: extra.retryAfterMs },
    );
  const what =
    status >= 500 ? `has an internal error (status ${status}); ${LATER}` : `answers with status ${status}`;
  return new RepositoryError('server', `${host} ${what}`);
}

/** `target` may be shown to users; `circle` means too many redirects. */
export function redirectError({ address: { host } }: Remote, target: string): RepositoryError {
  return new RepositoryError(
    'redirect',
    target === 'circle'
      ? `${host} redirects in a circle; bind to the address where the repository itself is`
      : `${host} redirects to ${target}, which is not followed, since that server would receive the credentials; bind to the address where the repository itself is`,
  );
}

export const tlsRequired = ({ address: { host, port } }: Remote): RepositoryError =>
  new RepositoryError('server', `${host} expects TLS on port ${port}; write https:// instead of http://`);

export const dumbServer = ({ address: { host } }: Remote): RepositoryError =>
  new RepositoryError(
    'server',
    `${host} only serves the files of the repository (git's dumb protocol), which is not supported; serve it by git http-backend, or bind over ssh`,
  );

export const sha256Repository = (): RepositoryError =>
  new RepositoryError(
    'server',
    'the repository uses SHA-256 as its object format, which is not supported yet; use one with SHA-1',
  );

export const notGit = ({ address: { host } }: Remote, type: string): RepositoryError =>
  new RepositoryError(
    'server',
    `${host} answers with something that is not git (${printable(type) || 'no content type'}); compare the address`,
  );

interface Rule {
  pattern: RegExp;
  fault: RepositoryFault;
  explain: Explain;
}

/** Connections that failed, whatever the host is. */
const NOT_REACHED =
  /could not resolve (?:host|proxy)[^\n]*|Connection refused|Failed to connect to \S+ port \d+|(?:Operation|Connection) timed out|No route to host|Network is unreachable|Connection reset[^\n]*|Connection closed by [^\n]*|kex_exchange_identification[^\n]*|Received HTTP\/0\.9[^\n]*|Empty reply from server|Recv failure[^\n]*|wrong version number|(?:TLS|SSL) connect error[^\n]*|SSL_ERROR_SYSCALL[^\n]*|gnutls_handshake\(\) failed[^\n]*/i;
const PROXY_STATUS = /CONNECT tunnel failed, response (\d{3})|Received HTTP code (\d{3}) from proxy/;

/** The first match counts. */
const RULES: readonly Rule[] = [
  {
    pattern: /REMOTE HOST IDENTIFICATION HAS CHANGED|host key for .* has changed/i,
    fault: 'host-key',
    explain: (remote, output) =>
      `${remote.address.host} shows another host key than knownHosts of the binding has: the server was reinstalled, or somebody intercepts the connection; ask its operator, then give what \`${scan(remote, output)}\` prints as knownHosts`,
  },
  {
    pattern: /host key verification failed|No \S+ host key is known/i,
    fault: 'host-key',
    explain: (remote, output) =>
      `knownHosts of the binding has no key of ${remote.address.host}; give what \`${scan(remote, output)}\` prints as knownHosts, after comparing it with what the server's owner publishes`,
  },
  {
    pattern: /ssh: (?:command )?not found|cannot run ssh|ssh: No such file/i,
    fault: 'program',
    explain: () =>
      'ssh was not found on the controller; install it there (package openssh-client), or bind over https',
  },
  {
    pattern: /error in libcrypto|Load key .*(?:invalid format|incorrect passphrase)|bad permissions/i,
    fault: 'credentials',
    explain: () =>
      "ssh cannot read the binding's key; make one with ssh-keygen -t ed25519 -N '' and give the new key",
  },
  {
    pattern: /Permission denied \(|Too many authentication failures/,
    fault: 'credentials',
    explain: authentication,
  },
  {
    pattern: /could not read (?:Username|Password)|Authentication failed|terminal prompts disabled/,
    fault: 'credentials',
    explain: authentication,
  },
  {
    pattern:
      /SSL certificate problem: ([^\n]*)|(server certificate verification failed[^\n]*)|(SSL: [^\n]*match[^\n]*)|(certificate subject name[^\n]*)/,
    fault: 'certificate',
    explain: certificate,
  },
  {
    pattern: /(Operation too slow[^\n]*)|(Timeout, server [^\n]*)/i,
    fault: 'timeout',
    explain: slow,
  },
  {
    pattern: /No space left on device|Disk quota exceeded|disk full/i,
    fault: 'disk',
    explain: () => `the disk of the data directory is full; free some space there; ${LATER}`,
  },
  {
    pattern: /File (?:size limit exceeded|too large)/i,
    fault: 'too-large',
    explain: (remote) =>
      `the repository at ${remote.address.host} is larger than the 2 GiB that are fetched; bind to a repository that only holds manifests`,
  },
  {
    pattern:
      /repository .*not found|does not appear to be a git repository|project you were looking for could not be found/i,
    fault: 'not-found',
    explain: notFound,
  },
  {
    pattern:
      /dumb http transport|not valid: is this a git repository|invalid server response|protocol error|bad line length/i,
    fault: 'server',
    explain: (remote) => `${remote.address.host} answers with something that is not git; compare the address`,
  },
  {
    pattern: /mismatched algorithms|unsupported object format|unknown object format/i,
    fault: 'server',
    explain: () => sha256Repository().message,
  },
];

const MAX_OUTPUT_CHARS = 300;

/** Explains a failed run. */
export function explainRun(remote: Remote, end: GitEnd, deadlineMs: number): RepositoryError {
  const output = remote.redact(end.stderr);
  if (end.late) {
    return new RepositoryError(
      'timeout',
      slow(remote, `git was not done after ${Math.round(deadlineMs / 1000)} seconds and was ended`),
    );
  }
  if (end.by === 'SIGXFSZ')
    return new RepositoryError(
      'too-large',
      RULES.find(({ fault }) => fault === 'too-large')?.explain(remote, '') ?? '',
    );
  const status = /requested URL returned error: (\d{3})/.exec(output)?.[1];
  if (status) return statusError(remote, Number(status));
  const [, tunnel, other] = PROXY_STATUS.exec(output) ?? [];
  if (tunnel ?? other) return proxyFault(remote, String(tunnel ?? other));
  for (const { pattern, fault, explain } of RULES) {
    const found = pattern.exec(output);
    if (found)
      return new RepositoryError(fault, explain(remote, printable(found.slice(1).find(Boolean) ?? '')));
  }
  const [reason] = NOT_REACHED.exec(output) ?? [];
  if (reason) return notReached(remote, printable(reason));
  return new RepositoryError(
    'server',
    `git failed to reach ${remote.address.host}: ${lastOutput(output) || `it ended with ${end.by ?? `code ${end.code}`}`}`,
  );
}

/** The last line that names the failure, with the last line of the server itself (`remote:`). */
export function lastOutput(output: string): string {
  const lines = output.trim().split('\n');
  const local = lines.findLast((line) => /^(?:fatal|error): /.test(line)) ?? lines.at(-1) ?? '';
  const remotely = lines.findLast((line) => /^remote: .*\w/.test(line));
  return printable([local.replace(/^(?:fatal|error): /, ''), remotely].filter(Boolean).join('; '));
}

const printable = (text: string): string =>
  text
    .replaceAll(/[\0-\x1f\x7f-\x9f]+/g, ' ')
    .trim()
    .slice(0, MAX_OUTPUT_CHARS);

/** Whether the local mirror is damaged, as opposed to a failure of the server or the connection. */
export function isDamaged(end: GitEnd): boolean {
  const own = end.stderr.split('\n').filter((line) => !line.startsWith('remote:'));
  return own.some((line) =>
    /not a git repository|bad config|object file .* is empty|loose object .* corrupt|(?:index|pack)\s?file .* (?:is corrupt|is too small|cannot|is far too short|wrong)|bad (?:object|pack header|index)|inflate: |unable to (?:read|parse|open) |Could not read [0-9a-f]{40}|did not send all necessary|garbage at end|cannot lock ref|unable to create '.*\.lock'|missing (?:blob|tree|commit)|shallow (?:file|info)|reference broken|failed to read object|corrupted/i.test(
      line,
    ),
  );
}
