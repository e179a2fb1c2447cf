import { spawn } from 'node:child_process';
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { LIMITS } from '../limits.ts';
import { cleanEnvironment } from '../supervise/engine/engine-environment.ts';
import { signalGroup } from '../supervise/engine/engine-process.ts';
import { UpdateError } from './download.ts';
import { describeRelease, releaseStatement, type SignedRelease } from './release-statement.ts';
import { isVersion, sameVersion } from './update-order.ts';

/** What stands before the 32 bytes of an Ed25519 key in its standard form (RFC 8410). */
const KEY_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Base64 of the 32 bytes, or PEM; undefined for what is no public Ed25519 key. */
export function readPublicKey(text: string): KeyObject | undefined {
  try {
    const raw = /^[A-Za-z0-9+/]{43}=?$/.test(text.trim()) ? Buffer.from(text, 'base64') : undefined;
    const key = raw
      ? createPublicKey({ key: Buffer.concat([KEY_PREFIX, raw]), format: 'der', type: 'spki' })
      : createPublicKey(text.replaceAll('\\n', '\n'));
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Throws UpdateError unless the signature, in base64, covers this release and is by this very key. */
export function checkSignature(key: KeyObject, release: SignedRelease, signature: string | undefined): void {
  if (!signature) throw new UpdateError('it is not signed, and SVC_UPDATE_PUBLIC_KEY asks for a signature');
  const bytes = Buffer.from(signature, 'base64');
  if (verify(null, releaseStatement(release), key, bytes)) return;
  // Before version, system and processor were signed too.
  if (verify(null, Buffer.from(release.sha256, 'hex'), key, bytes))
    throw new UpdateError(
      'its signature is of the older form, which covers the checksum alone: build and sign the release again',
    );
  throw new UpdateError(
    `the signature does not hold for ${describeRelease(release)} with this checksum and the key of SVC_UPDATE_PUBLIC_KEY`,
  );
}

const OUTPUT_CHARS = 4_096;
const BUSY_TRIES = 20;
const BUSY_WAIT_MS = 50;

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs the file, which must print that version and nothing else. Throws UpdateError. */
export async function checkVersion(
  path: string,
  wanted: string,
  env: Environment,
  timeoutMs?: number,
): Promise<void> {
  const printed = await askVersion(path, env, timeoutMs);
  if (!sameVersion(printed, wanted)) throw unexpectedVersion(printed);
}

/** Runs the file, which must print some version of an agent. Throws UpdateError. */
export async function checkAgent(path: string, env: Environment): Promise<void> {
  const printed = await askVersion(path, env);
  if (!isVersion(printed)) throw unexpectedVersion(printed);
}

const unexpectedVersion = (printed: string) =>
  new UpdateError(`the file says that it is version ${JSON.stringify(printed.slice(0, 80))}`);

async function askVersion(
  path: string,
  env: Environment,
  timeoutMs: number = LIMITS.updateVersionMs,
): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask(path, env, timeoutMs);
    } catch (error) {
      if (error instanceof UpdateError) throw error;
      // An engine that was started in this moment still holds our handle to the file, until it has become itself.
      const busy = (error as NodeJS.ErrnoException).code === 'ETXTBSY' && attempt < BUSY_TRIES;
      if (!busy) throw new UpdateError(cannotRun(error));
      await new Promise((done) => setTimeout(done, BUSY_WAIT_MS));
    }
  }
}

/** What it prints. In a group of its own, so that whatever it has started ends with it. */
function ask(path: string, env: Environment, timeoutMs: number): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(path, ['--version'], {
      cwd: '/',
      env: cleanEnvironment(env),
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    let ended = '';
    const end = () => child.pid !== undefined && signalGroup(child.pid, 'SIGKILL');
    const timer = setTimeout(() => {
      ended = `did not tell its version within ${timeoutMs / 1_000} s`;
      end();
    }, timeoutMs);
    child.stdout?.on('data', (chunk: Buffer) => {
      if (output.length < OUTPUT_CHARS) output += chunk.toString('utf8');
    });
    child.once('error', (error) => {
      clearTimeout(timer);
      fail(error);
    });
    child.once('exit', (code, signal) => {
      if (code !== 0) ended ||= `ended with ${signal ?? `code ${code}`} when asked for its version`;
      end();
    });
    child.once('close', () => {
      clearTimeout(timer);
      if (ended) fail(new UpdateError(`the file ${ended}`));
      else done(output.trim());
    });
  });
}

function cannotRun(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? String(error).slice(0, 100);
  return `the file cannot be run here (${code}); it must be built for ${process.platform}/${process.arch}`;
}
