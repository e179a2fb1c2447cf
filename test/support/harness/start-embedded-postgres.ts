// Run as a process of its own: starts the embedded database of the folder given and prints what came of it as one line of
// JSON, then stays until it is killed (or, with `once`, ends the database again).
import { startEmbeddedPostgres } from '../../../controller/database/embedded/embedded-postgres.ts';

const [dataDir, once] = process.argv.slice(2);
if (!dataDir) throw new Error('usage: start-embedded-postgres.ts <dataDir> [once]');
try {
  const { pid, adopted, location, url, stop } = await startEmbeddedPostgres({
    dataDir,
    log: () => undefined,
  });
  if (once) await stop();
  console.log(JSON.stringify({ pid, adopted, location, url }));
  if (!once) setInterval(() => undefined, 1 << 30);
} catch (error) {
  const { name, message } = error as Error;
  console.log(JSON.stringify({ error: message, name }));
}
