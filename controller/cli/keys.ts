import { listKeys, rotateKeys } from '../compose/keys.ts';
import { readConfig } from '../config.ts';
import { type Command, EXIT, UsageError } from './command.ts';

export const keys: Command = {
  usage: [
    'headgate keys list      the fingerprints of the keys, and how many texts each has sealed',
    'headgate keys rotate    a new key: everything is resealed with it',
  ],
  help: `Both take the variables of headgate serve, and work while controllers run. Without HEADGATE_SECRET_KEY the new key is made
and put into the file secret-key of the data directory; running controllers take it over by themselves.

With HEADGATE_SECRET_KEY, restart every controller with the new key in it and the earlier one in
HEADGATE_PREVIOUS_SECRET_KEYS, then run headgate keys rotate with both, too. A rotation that was ended goes on when it is run
again.`,
  positionals: 1,
  failure: EXIT.findings,
  async run({ positionals: [action] }, io) {
    const say = (line: string) => io.out(`${line}\n`);
    if (action !== 'list' && action !== 'rotate') throw new UsageError('say what to do: list or rotate');
    const config = readConfig(io.env);
    await (action === 'list' ? listKeys(config, { say }) : rotateKeys(config, { say }));
    return EXIT.fine;
  },
};
