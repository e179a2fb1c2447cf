/**
 * From settings to an agent that runs: data directory, lock, node token or enrollment, engines. What belongs to a process
 * (signals, exit codes, the runtime's settings) is in `main.ts`.
 */
import { hostname } from 'node:os';
import { Agent } from './agent.ts';
import { ConfigError } from './config.ts';
import type { AgentDeps } from './deps.ts';
import { EnrollError, enroll } from './link/enroll.ts';
import { loadNodeToken, saveNodeToken, TokenError } from './link/node-token.ts';
import { engineVersion } from './supervise/engine/engine-executable.ts';
import { DataDirectory } from './supervise/files/data-directory.ts';
import { LockedError, lockDirectory } from './supervise/files/directory-lock.ts';
import { channelOf } from './update/update-order.ts';
import { AGENT_VERSION } from './version.ts';

export interface StartedAgent {
  agent: Agent;
  /** Lets another agent use the data directory. */
  unlock(): void;
}

/** Ends the start. The first line is the error, the second says what to do. */
class StartError extends Error {
  override name = 'StartError';
  readonly remedy: string;

  constructor(message: string, remedy = '') {
    super(message);
    this.remedy = remedy;
  }
}

/** Throws; `describeStartError` says what to print then. */
export async function startAgent(deps: AgentDeps): Promise<StartedAgent> {
  const { config, log } = deps;
  const directory = new DataDirectory(config.dataDir);
  openDirectory(directory);
  const unlock = await lockDirectory(directory.root);
  try {
    const version = engineVersion(config.engineBin, deps.env);
    const nodeToken = loadNodeToken(directory) ?? (await enrollNode(deps, directory, version));
    const agent = new Agent({ ...deps, directory, nodeToken, engineVersion: version });
    agent.start();
    log.info('agent started', { version: AGENT_VERSION, url: config.url, dataDir: directory.root });
    return { agent, unlock };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Lines for the user. */
export function describeStartError(error: unknown): string[] {
  if (error instanceof EnrollError || error instanceof StartError)
    return [error.message, error.remedy].filter((line) => line !== '');
  if (error instanceof ConfigError || error instanceof TokenError || error instanceof LockedError)
    return [error.message];
  return [`unexpected failure: ${messageOf(error)}`];
}

function openDirectory(directory: DataDirectory): void {
  try {
    directory.ensureRoot();
  } catch (error) {
    throw new StartError(
      `cannot make the data directory ${directory.root}: ${messageOf(error)}`,
      'Fix permissions, or set SVC_DATA_DIR.',
    );
  }
}

async function enrollNode(
  { config, channel, log }: AgentDeps,
  directory: DataDirectory,
  version: Promise<string>,
): Promise<string> {
  if (!config.token) throw new StartError('no node token found and SVC_TOKEN is not set');
  const answer = await enroll(config.url, {
    token: config.token,
    hostname: hostname().slice(0, 253) || 'unknown',
    os: `${process.platform}/${process.arch}`,
    agentVersion: AGENT_VERSION,
    engineVersion: await version,
    labels: config.labels,
    channel: channel ?? channelOf(AGENT_VERSION),
  });
  try {
    saveNodeToken(directory, answer.nodeToken);
  } catch (error) {
    throw new StartError(
      `failed to write ${directory.token}: ${messageOf(error)}`,
      'Make room or fix permissions, and start again.',
    );
  }
  log.info('enrolled', { node: answer.nodeId, environment: answer.environmentName.slice(0, 100) });
  return answer.nodeToken;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
