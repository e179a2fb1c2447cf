/**
 * Runs git against a remote. Credentials are passed by the environment and by files in a folder of the run: no argument list,
 * log or configuration file holds them.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { authoritiesWith } from '../../../platform/net/certificate-authorities.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { type GitSetting, gitEnvironment } from '../embedded.ts';
import { type GitEnd, runGit } from '../process/git-run.ts';
import { createPinCheck } from '../process/git-version.ts';
import { RepositoryError } from '../repository-error.ts';
import { assertAllowed, notReached } from './explain-run.ts';
import type { Remote } from './remote.ts';
import { readSshKey } from './ssh-key.ts';
import { webRefs } from './web-refs.ts';

export interface RemoteRun {
  gitdir: string;
  /** The parent of the folders of runs. */
  runs: string;
  signal: AbortSignal;
  deadlineMs: number;
  input?: string;
}

/** Git gives up on a server that sends less over this time. */
const STALL = { bytesPerSecond: 1_000, seconds: 30 };
const CONNECT_SECONDS = 15;
/** Git does not load larger content into memory. */
const BIG_FILE = '2m';

const assertPins = createPinCheck();

/** Git's message for a redirect, which it does not follow itself. */
const REDIRECTED = /requested URL returned error: 30[12378]\b/;
const RESOLVE_MS = 20_000;

/**
 * Runs git; after a redirect within the origin it runs once more with the new address.
 * @throws RepositoryError when git cannot be started or is too old; the caller checks the exit code
 */
export async function runRemote(remote: Remote, args: readonly string[], run: RemoteRun): Promise<GitEnd> {
  const { endpoint } = remote;
  const end = await runAt(remote, args, run);
  if (end.code === 0 || remote.address.transport === 'ssh' || !REDIRECTED.test(end.stderr)) return end;
  await webRefs(remote, ['HEAD'], run.signal, Math.min(RESOLVE_MS, run.deadlineMs));
  return remote.endpoint === endpoint ? end : runAt(remote, args, run);
}

async function runAt(remote: Remote, args: readonly string[], run: RemoteRun): Promise<GitEnd> {
  const addresses = await addressesOf(remote);
  let folder: string;
  try {
    await mkdir(run.runs, { recursive: true, mode: 0o700 });
    folder = await mkdtemp(join(run.runs, 'run-'));
  } catch (error) {
    throw noFolder(error);
  }
  try {
    if (isPinned(remote))
      await assertPins(async () => {
        const { signal, deadlineMs } = run;
        const env = gitEnvironment(run.gitdir, []);
        return (await runGit(['--version'], { cwd: folder, env, signal, deadlineMs })).stdout;
      });
    const settings = [...SETTINGS, ...(await filesOf(remote, folder, addresses))];
    const at = (address: string) =>
      runGit(args, {
        cwd: folder,
        env: {
          ...gitEnvironment(run.gitdir, settings),
          GIT_DIR: run.gitdir,
          // Without .netrc and .ssh of the user of this process.
          HOME: folder,
          GIT_ALLOW_PROTOCOL: remote.address.transport,
          GIT_NO_LAZY_FETCH: '1',
          GIT_NO_REPLACE_OBJECTS: '1',
          GIT_SSH_VARIANT: 'ssh',
          GIT_SSH_COMMAND: sshCommand(folder, remote, address),
          GIT_ASKPASS: '/bin/false',
          SSH_ASKPASS: '/bin/false',
        },
        signal: run.signal,
        deadlineMs: run.deadlineMs,
        ...(run.input === undefined ? {} : { input: run.input }),
      });
    const [first = remote.address.host, ...others] = addresses;
    let end = await at(first);
    // curl tries all addresses in the list; ssh takes one at a time.
    for (const other of remote.address.transport === 'ssh' ? others : [])
      if (SSH_NOT_CONNECTED.test(end.stderr)) end = await at(other);
    return end;
  } catch (error) {
    throw error instanceof RepositoryError || run.signal.aborted ? error : noFolder(error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const SETTINGS: readonly GitSetting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.bigFileThreshold', BIG_FILE],
  ['core.alternateRefsCommand', 'true'],
  ['credential.helper', ''],
  ['protocol.allow', 'never'],
  ['protocol.http.allow', 'always'],
  ['protocol.https.allow', 'always'],
  ['protocol.ssh.allow', 'always'],
  ['protocol.ext.allow', 'never'],
  ['protocol.file.allow', 'never'],
  ['http.followRedirects', 'false'],
  ['http.lowSpeedLimit', String(STALL.bytesPerSecond)],
  ['http.lowSpeedTime', String(STALL.seconds)],
  ['fetch.recurseSubmodules', 'false'],
  ['fetch.writeCommitGraph', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['submodule.recurse', 'false'],
  ['transfer.bundleURI', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['pack.threads', '1'],
  ['pack.windowMemory', '64m'],
];

/** Whether curl would resolve a name, and gets the checked addresses instead. */
const isPinned = ({ address, proxy }: Remote): boolean =>
  address.transport !== 'ssh' && !proxy && isIP(address.host) === 0;

/** Writes the files that git and ssh read, and returns the settings that name them. */
async function filesOf(remote: Remote, folder: string, addresses: readonly string[]): Promise<GitSetting[]> {
  const { address, credentials, caCertificate, proxy } = remote;
  if (address.transport === 'ssh') {
    if (credentials.type === 'ssh')
      await writeFile(join(folder, 'key'), readSshKey(credentials.privateKey).file, { mode: 0o600 });
    await writeFile(join(folder, 'known_hosts'), `${knownHostsFor(remote)}\n`);
    return [];
  }
  const settings: GitSetting[] = [];
  if (remote.endpoint !== address.url) settings.push([`url.${remote.endpoint}.insteadOf`, address.url]);
  const header = await remote.authorization();
  if (header) settings.push(['http.extraHeader', `Authorization: ${header}`]);
  if (proxy) settings.push(['http.proxy', proxy.href], ['http.proxyAuthMethod', 'basic']);
  // Connect only to the addresses that were resolved and checked.
  else if (isPinned(remote)) {
    const list = addresses.map((address) => (address.includes(':') ? `[${address}]` : address)).join(',');
    settings.push(['http.curloptResolve', `${address.host}:${address.port}:${list}`]);
  }
  if (caCertificate !== null) {
    const file = join(folder, 'authorities.pem');
    await writeFile(file, authoritiesWith(caCertificate));
    settings.push(['http.sslCAInfo', file]);
  }
  return settings;
}

const SSH_OPTIONS = [
  'BatchMode=yes',
  'IdentitiesOnly=yes',
  'IdentityAgent=none',
  'PreferredAuthentications=publickey',
  'StrictHostKeyChecking=yes',
  'GlobalKnownHostsFile=/dev/null',
  'UpdateHostKeys=no',
  'ForwardAgent=no',
  'ClearAllForwardings=yes',
  'PermitLocalCommand=no',
  'ControlMaster=no',
  'ControlPath=none',
  `ConnectTimeout=${CONNECT_SECONDS}`,
  'ServerAliveInterval=10',
  'ServerAliveCountMax=3',
];

const SSH_NOT_CONNECTED = /^ssh: connect to host /m;

/**
 * A command line that git gives to a shell. ssh connects to the checked address but looks up the host key by name: `[host]:port`
 * when the port is not 22, as in known_hosts (sshd(8)).
 */
function sshCommand(folder: string, remote: Remote, address: string): string {
  const file = (name: string) => `"${join(folder, name).replaceAll(/["\\]/g, '\\$&').replaceAll('%', '%%')}"`;
  const { host, port } = remote.address;
  const options = [
    ...SSH_OPTIONS,
    `HostName=${address}`,
    `HostKeyAlias=${port === 22 || hasAuthority(remote) ? host : `[${host}]:${port}`}`,
    `IdentityFile=${file('key')}`,
    `UserKnownHostsFile=${file('known_hosts')}`,
  ];
  return ['ssh -F /dev/null', ...options.map((option) => `-o ${shellQuoted(option)}`)].join(' ');
}

const hasAuthority = ({ knownHosts }: Remote): boolean => /^\s*@cert-authority\s/m.test(knownHosts ?? '');

/** Host certificates name hosts without a port, and ssh looks for the alias in them: with an authority, the port is removed here. */
function knownHostsFor(remote: Remote): string {
  const lines = remote.knownHosts?.trim() ?? '';
  const { port } = remote.address;
  if (port === 22 || !hasAuthority(remote)) return lines;
  const ofPort = new RegExp(`\\[([^\\]\\s,]+)\\]:${port}(?=[\\s,])`, 'g');
  return lines
    .split('\n')
    .map((line) => line.replace(/^\s*(?:@\S+\s+)?\S+\s/, (hosts) => hosts.replace(ofPort, '$1')))
    .join('\n');
}

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** @throws RepositoryError for a host that is unknown or not allowed */
async function addressesOf(remote: Remote): Promise<string[]> {
  const { host } = remote.address;
  assertAllowed(remote);
  // Behind a proxy, often only the proxy can resolve external names.
  if (isIP(host) !== 0 || remote.proxy) return [host];
  try {
    return await remote.guard.resolve(host);
  } catch (error) {
    throw notReached(remote, error);
  }
}

function noFolder(error: unknown): RepositoryError {
  const { code } = error as NodeJS.ErrnoException;
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return new RepositoryError(
    'disk',
    full
      ? 'the disk of the data directory is full; free some space there; it is tried again by itself'
      : `the folder git of the data directory cannot be written (${code ?? messageOf(error)}); let the controller's user write there`,
  );
}
