/** A program: what its own process says of git where it has no file descriptors left. Prints one line for each way. */
import { openSync, writeSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { runHttpBackend } from '../../../api/git/http-backend.ts';
import { runGit } from '../../../controller/delivery/repository/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { openRepository } from '../../../reconcilers/source/index.ts';

const [, , gitdir = ''] = process.argv;
const { signal } = new AbortController();
const log = createLogger('silent');
const say = (text: string) => writeSync(1, `${text}\n`);
process.on('uncaughtException', (error) => say(`uncaught: ${error.message}`));

const repository = openRepository(gitdir);
const took: number[] = [];
try {
  for (;;) took.push(openSync('/dev/null', 'r'));
} catch {
  // None is left.
}
const tell = async (name: string, work: () => Promise<unknown>) => {
  const said = await work().then(
    () => 'done',
    (error: Error) => `${error.name}: ${error.message}`,
  );
  await new Promise((resolve) => setImmediate(resolve));
  say(`${name}: ${said}`);
};
await tell('run', () => runGit(['version'], { cwd: '/', env: {}, signal, deadlineMs: 10_000 }));
await tell('session', () => repository.objects.use((reader) => reader.read('HEAD', 1_000)));
const req = Object.assign(new PassThrough(), { headers: {} });
const ctx = { req, res: new PassThrough(), method: 'GET', querystring: '', state: { ipAddress: '::1' } };
await tell('request', () =>
  runHttpBackend(ctx as never, {
    ...{ log, signal, userId: 'u', path: '/info/refs' },
    repository: { gitdir, root: '/', name: 'config.git' } as never,
  }),
);
process.exit(0);
