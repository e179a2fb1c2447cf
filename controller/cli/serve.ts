import { untilSignal } from '../compose/signals.ts';
import { readConfig, VARIABLES } from '../config.ts';
import { type Command, EXIT } from './command.ts';

export const serve: Command = {
  usage: ['headgate serve'],
  help: `Runs the controller until SIGTERM or Ctrl-C. It is set up by environment variables:

${VARIABLES.map((variable) => `  ${variable.name.padEnd(30)} ${variable.help} [${variable.default}]`).join('\n')}`,
  failure: EXIT.findings,
  async run(_, io) {
    // Before the rest is loaded: help and a wrong variable are answered at once.
    const config = readConfig(io.env);
    const { startController } = await import('../main.ts');
    const controller = await startController(config);
    if (controller.firstAdmin?.generatedPassword) {
      io.out(
        `First start. Sign in at ${controller.url} as ${controller.firstAdmin.email} with the password ${controller.firstAdmin.generatedPassword}\n` +
          'It is shown this once.\n',
      );
    }
    await untilSignal();
    await controller.stop();
    return EXIT.fine;
  },
};
