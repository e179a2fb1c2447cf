/** A program: runs `git http-backend` for a worker of the tests, whose page tables take longer to copy than git runs. */
import { spawn } from 'node:child_process';
import type { BackendAnswer, BackendRequest } from './run-git-backend.ts';

process.on('message', ({ id, env, body }: BackendRequest) => {
  const child = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.on('error', () => {}); // git may end without reading it
  child.stdin.end(body);
  child.on('error', (error) => send({ id, problem: error.message }));
  child.on('close', () => send({ id, output: Buffer.concat(chunks) }));
});
process.on('disconnect', () => process.exit());

function send(answer: BackendAnswer): void {
  if (process.connected) process.send?.(answer);
}
