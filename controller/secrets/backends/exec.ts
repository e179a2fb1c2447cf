/**
 * A program of the operator that reads names on its standard input and writes values to its output: the protocol of Vector's
 * own exec backend, version 1.0 or 1.1. It runs without a shell and without the controller's environment variables.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import type { ExecConfig } from '../../../schemas/api/secrets/secret-backends.ts';
import { searchPath } from '../../platform/runtime/search-path.ts';
import { BACKEND_LIMITS, BackendError, type Reading, redact, type SecretBackend } from './backend.ts';
import { recordOf } from './http-call.ts';
import { readingIn, type SecretRef } from './secret-ref.ts';

/** Names per run: a program that looks names up one by one must stay within its deadline. */
const NAMES_PER_RUN = 50;

/** Version 1.1 only: which of its backends the program uses, and how. */
export interface ExecRequest {
  type: string;
  config: Readonly<Record<string, unknown>>;
}

/** With `request` the program is called with version 1.1, without it with 1.0. */
export function createExecBackend(config: ExecConfig, request: ExecRequest | null = null): SecretBackend {
  const inputFor = (secrets: readonly string[]) =>
    request === null ? { version: '1.0', secrets } : { version: '1.1', secrets, ...request };
  /** Answers by name or path. */
  async function ask(names: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Answer>> {
    const output = await run(config, JSON.stringify(inputFor(names)), signal);
    let answer: Record<string, unknown> | null;
    try {
      answer = recordOf(JSON.parse(output));
    } catch {
      answer = null;
    }
    if (!answer) {
      throw refused(
        config,
        'printed no JSON object; it must print {"<name>":{"value":"…","error":null}} and nothing else',
      );
    }
    const values = Object.values(answer).map((one) => recordOf(one)?.value);
    const texts = values.filter((one): one is string => typeof one === 'string');
    return new Map(names.map((name) => [name, answerTo(answer, name, texts)]));
  }

  return {
    kind: 'EXEC',
    isExternal: true,
    async check(signal) {
      await assertExecutable(config);
      await ask([], signal);
    },
    async read(refs, signal) {
      const answers = new Map<string, Answer>();
      const requestNames = [
        ...new Set(refs.filter((ref) => invalidRefReason(ref) === null).map(requestName)),
      ];
      for (let at = 0; at < requestNames.length; at += NAMES_PER_RUN) {
        const batch = await ask(requestNames.slice(at, at + NAMES_PER_RUN), signal);
        for (const [name, answer] of batch) answers.set(name, answer);
      }
      return new Map(refs.map((ref) => [ref.name, readingFor(ref, answers.get(requestName(ref)))]));
    },
    write: async () => {
      throw new BackendError(
        'refused',
        'This environment reads its secrets from a program, which cannot write. Store the value where the program reads it, then name it with secret.register',
      );
    },
    close: () => {},
  };
}

/** The text of an entry, or the reason why there is none. */
type Answer = { text: string } | { error: string };

const requestName = ({ name, path }: SecretRef): string => path ?? name;

/** A path must not be absolute: a program may look it up as a file below its own folder. */
function invalidRefReason({ path, version }: SecretRef): string | null {
  if (version !== null) return 'a program has no versions; leave the version out';
  return path?.startsWith('/') ? 'a path for a program must not begin with /' : null;
}

function readingFor(ref: SecretRef, answer: Answer | undefined): Reading {
  const reason = invalidRefReason(ref);
  if (reason !== null) return { error: reason };
  if (!answer) return { error: `the program does not answer for ${requestName(ref)}` };
  return 'error' in answer ? answer : readingIn(answer.text, ref, requestName(ref));
}

function answerTo(answer: Record<string, unknown>, name: string, values: readonly string[]): Answer {
  const entry = Object.hasOwn(answer, name) ? recordOf(answer[name]) : null;
  if (!entry) return { error: `the program does not answer for ${name}` };
  if (typeof entry.error === 'string' && entry.error !== '')
    return { error: `the program reports: ${redact(entry.error, values)}` };
  if (typeof entry.value !== 'string') return { error: `the program gives no text for ${name}` };
  return { text: entry.value };
}

const refused = ({ command }: ExecConfig, what: string) => new BackendError('refused', `${command} ${what}`);

async function assertExecutable(config: ExecConfig): Promise<void> {
  try {
    if (!(await stat(config.command)).isFile()) throw refused(config, 'is not a file');
    await access(config.command, constants.X_OK);
  } catch (error) {
    if (error instanceof BackendError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'ENOENT' || code === 'ENOTDIR'
        ? 'does not exist on the controller'
        : 'may not be run by the controller';
    throw refused(config, `${why} (${code})`);
  }
}

/** Runs the program and returns its whole output. Its child processes end with it, at the latest after the deadline. */
async function run(config: ExecConfig, input: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const child = spawn(config.command, config.args ?? [], {
    cwd: '/',
    env: { PATH: searchPath, HOME: homedir(), LANG: 'C.UTF-8' },
    // Its error output may contain values, so it is discarded.
    stdio: ['pipe', 'pipe', 'ignore'],
    // A process group of its own, so that its child processes can be killed too.
    detached: true,
  });
  const kill = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The whole group has ended.
    }
  };
  const deadlineMs = config.timeoutSeconds ? config.timeoutSeconds * 1_000 : BACKEND_LIMITS.deadlineMs;
  const chunks: Buffer[] = [];
  let size = 0;
  let late = false;
  // Without free file descriptors there are no pipes; the `error` event below gives the reason.
  child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > BACKEND_LIMITS.replyBytes) kill();
    else chunks.push(chunk);
  });
  // The program may end before it has read its input.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  const timer = setTimeout(() => {
    late = true;
    kill();
  }, deadlineMs);
  signal.addEventListener('abort', kill, { once: true });
  try {
    const { code, by } = await new Promise<{ code: number | null; by: NodeJS.Signals | null }>(
      (resolve, reject) => {
        child.on('error', (error: NodeJS.ErrnoException) =>
          reject(refused(config, `cannot be started (${error.code}); is it an executable of this machine?`)),
        );
        // Child processes that still run would keep the output open.
        child.on('exit', kill);
        child.on('close', (exit, killed) => resolve({ code: exit, by: killed }));
      },
    );
    signal.throwIfAborted();
    if (late)
      throw new BackendError(
        'unreachable',
        `${config.command} took longer than ${deadlineMs / 1_000} s and was killed; timeoutSeconds allows up to 60 s`,
      );
    if (size > BACKEND_LIMITS.replyBytes) throw refused(config, 'printed more than 1 MiB and was killed');
    if (code !== 0) {
      throw refused(
        config,
        `ended with ${by ?? `code ${code}`}; run it by hand as the controller's user, with {"version":…,"secrets":[]} on its input`,
      );
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
  }
}
