import { readConfig, readDemoConfig } from '../config.ts';
import { type Command, EXIT } from './command.ts';

export const demo: Command = {
  usage: ['headgate demo'],
  help: `What make run starts: the controller on the data directory, two environments bound to the embedded repository, and
three agents. Takes the variables of headgate serve, and SVC_PORT_BASE [free ports from 8688 on] and SVC_METRICS_PORT
[9090], from where the agents' ports are counted.`,
  failure: EXIT.findings,
  async run(_, { env }) {
    // A wrong variable is reported before the rest is loaded.
    readDemoConfig(env);
    readConfig(env);
    const { demo } = await import('../demo/demo.ts');
    await demo();
    return process.exitCode === 1 ? EXIT.findings : EXIT.fine;
  },
};
