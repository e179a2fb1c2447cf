// Run as a process of its own: joins the embedded database of the folder given, prints its url and then what is logged, one
// line of JSON each, and leaves on SIGTERM.
import { joinEmbeddedPostgres } from '../../../controller/database/embedded/shared-postgres.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';

const [dataDir] = process.argv.slice(2);
if (!dataDir) throw new Error('usage: join-embedded-postgres.ts <dataDir>');
const postgres = await joinEmbeddedPostgres({ dataDir, log: createLogger('info', process.stdout) });
process.once('SIGTERM', async () => {
  await postgres.leave();
  process.exit(0);
});
// Last: whoever reads it may send the signal at once.
console.log(JSON.stringify({ url: postgres.url }));
