import { parseCommandLine } from '../../../agent/command-line.ts';
import { readConfig } from '../../../agent/config.ts';
import type { AgentDeps } from '../../../agent/deps.ts';
import { createLogger } from '../../../agent/log.ts';
import { describeStartError, startAgent } from '../../../agent/start.ts';
import type { Clock } from '../../../reconcilers/loops/clock.ts';

/** What a test may do with an agent, whether it is a process of its own or a part of the test's. */
export interface RunningAgent {
  output(): string;
  /** Exit code, or the signal's name. */
  ended: Promise<number | string>;
  /** As SIGTERM does. Resolves when it has ended. */
  terminate(): Promise<number | string>;
}

export interface InProcessAgent extends RunningAgent {
  /** As a second signal does: engines are killed. */
  killEngines(): void;
}

/** An executable, a kind of place, a function in the place of `execve`. */
export type InProcessDeps = Partial<Pick<AgentDeps, 'executable' | 'deploymentMode' | 'execute'>>;

/** Does what `agent/main.ts` does, but for signals and the end of the process. */
export function startInProcess(
  env: Record<string, string>,
  args: string[],
  clock: Clock,
  deps: InProcessDeps = {},
): InProcessAgent {
  let text = '';
  let killEngines = () => {};
  let terminate = () => {};
  const terminated = new Promise<void>((done) => {
    terminate = done;
  });
  const live = async () => {
    try {
      const command = parseCommandLine(args);
      const config = readConfig(env);
      const channel = command.run === 'agent' ? command.channel : undefined;
      const log = createLogger(config.logLevel, (line) => {
        text += line;
      });
      const { agent, unlock } = await startAgent({
        ...{ config, channel, env, clock, log, executable: undefined },
        ...deps,
      });
      killEngines = () => agent.killEngines();
      await terminated;
      log.info('stopping', { signal: 'SIGTERM' });
      await agent.stop();
      unlock();
      return 0;
    } catch (error) {
      text += `${describeStartError(error).join('\n')}\n`;
      return 1;
    }
  };
  const ended = live();
  return {
    output: () => text,
    ended,
    terminate() {
      terminate();
      return ended;
    },
    killEngines: () => killEngines(),
  };
}
