/** Git's CGI program behind `GitServer`, started by a small process that all files of a worker share. */
import { type ChildProcess, fork } from 'node:child_process';
import { closeAtEnd, keeping } from '../../runner/warm.ts';

export interface BackendRequest {
  id: number;
  /** The variables of CGI (RFC 3875), and nothing else. */
  env: Record<string, string>;
  body: Buffer;
}
export type BackendAnswer = { id: number; output: Buffer } | { id: number; problem: string };

let starter: Promise<ChildProcess> | undefined;
let nextId = 1;
const waiting = new Map<number, PromiseWithResolvers<Buffer>>();

closeAtEnd('git backend', async () => {
  (await starter)?.disconnect();
  starter = undefined;
});

/** What it prints: headers, an empty line, the body. */
export async function runGitBackend(env: Record<string, string>, body: Buffer): Promise<Buffer> {
  starter ??= keeping(async () => start());
  const child = await starter;
  const answer = Promise.withResolvers<Buffer>();
  const id = nextId++;
  waiting.set(id, answer);
  child.send({ id, env, body } satisfies BackendRequest);
  return answer.promise.finally(() => waiting.delete(id));
}

function start(): ChildProcess {
  const child = fork(new URL('./starter.ts', import.meta.url), { serialization: 'advanced' });
  // A server that waits for an answer keeps its process alive, this need not.
  child.unref();
  child.channel?.unref();
  child.on('message', (answer: BackendAnswer) => {
    const request = waiting.get(answer.id);
    if ('output' in answer) request?.resolve(answer.output);
    else request?.reject(new Error(`git http-backend: ${answer.problem}`));
  });
  child.on('exit', () => {
    starter = undefined;
    for (const request of waiting.values())
      request.reject(new Error('git http-backend: its starter has ended'));
  });
  return child;
}
