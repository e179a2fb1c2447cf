import { readConfig } from '../config.ts';
import { migrateAll } from '../database/migrate.ts';
import { type Command, EXIT } from './command.ts';
import { withDatabaseUrl } from './database-url.ts';

export const migrate: Command = {
  usage: ['headgate migrate'],
  help: `Brings the database up to date and ends, for set-ups that do so before new controllers start; headgate serve does it by
itself. Takes the variables of headgate serve. May run beside controllers and beside itself: one at a time migrates.`,
  async run(_, io) {
    const ran = await withDatabaseUrl(readConfig(io.env), { existing: false }, migrateAll);
    for (const name of ran) io.out(`ran ${name}\n`);
    io.out(
      ran.length === 0
        ? 'The database is up to date.\n'
        : `The database is up to date: ${ran.length} migrations ran.\n`,
    );
    return EXIT.fine;
  },
};
