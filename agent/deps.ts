import type { Clock } from '../reconcilers/loops/clock.ts';
import type { Channel } from './command-line.ts';
import type { AgentConfig } from './config.ts';
import type { Logger } from './log.ts';
import type { ExecuteFile } from './update/updates.ts';

export type DeploymentMode = 'STANDALONE' | 'DOCKER';

/** What an agent needs of its surroundings. Tests give a clock of their own. */
export interface AgentDeps {
  config: AgentConfig;
  /** Of the command line; that of this version where it is left out. */
  channel: Channel | undefined;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Logger;
  /** Where this program was started from; undefined where it is not one executable. */
  executable: string | undefined;
  /** Of this machine, unless given. */
  deploymentMode?: DeploymentMode;
  /** Replaces this process by that file; `execve` unless given. */
  execute?: ExecuteFile;
}
