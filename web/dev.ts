/** `make dev`: the demo, and beside it the UI from its sources, which reloads as they change. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const headgate = spawn(fileURLToPath(new URL('../bin/headgate', import.meta.url)), ['demo'], {
  stdio: 'inherit',
});
const server = await createServer({
  configFile: fileURLToPath(new URL('./vite.config.ts', import.meta.url)),
});
await server.listen();
server.printUrls();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => headgate.kill('SIGTERM'));
headgate.once('exit', async (code) => {
  await server.close();
  process.exit(code ?? 0);
});
