import { hostname } from 'node:os';
import { systemClock } from '../reconcilers/engine/clock.ts';
import { Agent } from './agent.ts';
import { type Channel, HELP, parseCommandLine } from './command-line.ts';
import { type AgentConfig, ConfigError, readConfig } from './config.ts';
import { EnrollError, enroll } from './link/enroll.ts';
import { loadNodeToken, saveNodeToken, TokenError } from './link/node-token.ts';
import { createLogger, type Logger } from './log.ts';
import { applyRuntimeSettings, isCompiled } from './runtime-settings.ts';
import { DataDirectory } from './supervise/directories.ts';
import { engineVersion } from './supervise/executable.ts';
import { removeFile } from './supervise/files.ts';
import { LockedError, lockDirectory } from './supervise/lock.ts';
import { channelOf } from './update/order.ts';
import { pendingOf } from './update/swap.ts';
import { AGENT_VERSION } from './version.ts';

/** Ends the start with lines for the user: the first is the error, the rest says what to do. */
function fail(...lines: string[]): never {
  process.stderr.write(`${lines.filter((line) => line !== '').join('\n')}\n`);
  process.exit(1);
}

async function main(): Promise<void> {
  const command = parseCommandLine(process.argv.slice(2));
  if (command.run === 'version') return void process.stdout.write(`${AGENT_VERSION}\n`);
  if (command.run === 'help') return void process.stdout.write(HELP);
  process.on('SIGTERM', endEarly);
  process.on('SIGINT', endEarly);
  const config = readConfig(process.env);
  applyRuntimeSettings();
  const log = createLogger(config.logLevel);
  ignoreSignals(log);
  const directory = new DataDirectory(config.dataDir);
  openDirectory(directory);
  const unlock = await lockDirectory(directory.root);
  const version = engineVersion(config.engineBin, process.env);
  const nodeToken =
    loadNodeToken(directory) ?? (await enrollNode(config, directory, version, command.channel, log));
  const agent = new Agent({
    config,
    directory,
    nodeToken,
    executable: isCompiled() ? process.execPath : undefined,
    engineVersion: version,
    env: process.env,
    clock: systemClock,
    log,
  });
  agent.start();
  log.info('agent started', { version: AGENT_VERSION, url: config.url, dataDir: directory.root });
  // The agent's own timers hold no process open: where the lock is a file, nothing else would.
  const holdOpen = setInterval(() => {}, 2 ** 30);
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return agent.killEngines();
    stopping = true;
    log.info('stopping', { signal });
    void agent.stop().then(() => {
      clearInterval(holdOpen);
      unlock();
      process.exit(0);
    });
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.off(signal, endEarly);
    process.on(signal, stop);
  }
}

/** Other programs end or reload on these; the agent's engines are worth more than that. */
function ignoreSignals(log: Logger): void {
  for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const)
    process.on(signal, () =>
      log.info('signal ignored: the agent reopens no files and takes its settings at its start', { signal }),
    );
}

/** Told to end before it holds an engine. A version that is new here must not be taken for one that does not live. */
function endEarly(): void {
  if (isCompiled()) removeFile(pendingOf(process.execPath));
  process.exit(0);
}

function openDirectory(directory: DataDirectory): void {
  try {
    directory.ensureRoot();
  } catch (error) {
    fail(
      `cannot make the data directory ${directory.root}: ${reason(error)}`,
      'Fix permissions, or set SVC_DATA_DIR.',
    );
  }
}

async function enrollNode(
  config: AgentConfig,
  directory: DataDirectory,
  version: Promise<string>,
  channel: Channel | undefined,
  log: Logger,
): Promise<string> {
  if (!config.token) fail('no node token found and SVC_TOKEN is not set');
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
    fail(
      `failed to write ${directory.token}: ${reason(error)}`,
      'Make room or fix permissions, and start again.',
    );
  }
  log.info('enrolled', { node: answer.nodeId, environment: answer.environmentName.slice(0, 100) });
  return answer.nodeToken;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

main().catch((error: unknown) => {
  if (error instanceof EnrollError) fail(error.message, error.remedy);
  if (error instanceof ConfigError || error instanceof TokenError || error instanceof LockedError)
    fail(error.message);
  fail(`unexpected failure: ${reason(error)}`);
});
