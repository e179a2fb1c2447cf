import { Api } from './api.ts';
import type { Command } from './cli.ts';
import { addressText } from './config/address.ts';
import { type Compiled, compile } from './config/compile.ts';
import { ConfigError } from './config/config-error.ts';
import { loadConfigs, sortedPaths } from './config/load.ts';
import { EXIT_CONFIG, EXIT_OK } from './exit-codes.ts';
import type { Logger } from './log.ts';
import { Registry } from './telemetry/registry.ts';
import { checkAllHealth } from './topology/health-checks.ts';
import { Topology } from './topology/topology.ts';
import { ENGINE_VERSION, targetTriple } from './version.ts';
import { compileTransforms } from './vrl/compile-transforms.ts';
import type { VrlProgram } from './vrl/program.ts';

const REMINDER_MS = 5_000;

export interface RunDeps {
  env: Record<string, string | undefined>;
  log: Logger;
  /** Aborted by the first SIGTERM or SIGINT. */
  stop: AbortSignal;
}

/** Runs a configuration until it ends, fails or is stopped; gives the exit code. */
export async function run(command: Extract<Command, { kind: 'run' }>, deps: RunDeps): Promise<number> {
  const { log, stop } = deps;
  let ready: { compiled: Compiled; programs: Map<string, VrlProgram[]> };
  try {
    ready = await prepare(command, deps);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const cli = log.child('headgate_engine::cli');
    for (const message of error.messages) cli.error('Configuration error.', { error: message });
    return EXIT_CONFIG;
  }
  if (stop.aborted) return EXIT_OK;

  const { compiled, programs } = ready;
  const app = log.child('headgate_engine::app');
  const healthy = checkAllHealth(compiled, log);
  if (compiled.settings.requireHealthy && !(await healthy)) {
    app.error('Sinks unhealthy.');
    return EXIT_CONFIG;
  }

  // From here on every failure ends with 0, as with Vector.
  let api: Api | undefined;
  if (compiled.settings.api) {
    try {
      api = await Api.start(compiled.settings.api);
      app.info('API server running.', { address: addressText(compiled.settings.api) });
    } catch (error) {
      const address = addressText(compiled.settings.api);
      app.error("An error occurred that Vector couldn't handle.", {
        error: `Failed to bind API server to ${address}: ${(error as Error).message}`,
      });
      return EXIT_OK;
    }
  }

  try {
    const topology = await Topology.start({ compiled, programs, registry: createRegistry(), log });
    api?.show(topology.tapPoints);
    app.info('Headgate engine has started.', { version: `"${ENGINE_VERSION}"`, arch: `"${process.arch}"` });
    await superviseUntilEnd(topology, command.shutdownLimitSecs, stop, api, app);
  } catch (error) {
    app.error((error as Error).message);
    app.error("An error occurred that Vector couldn't handle: the task completed with an error.");
  } finally {
    await api?.close();
  }
  app.info('Headgate engine has stopped.');
  return EXIT_OK;
}

async function prepare(command: Extract<Command, { kind: 'run' }>, { env, log }: RunDeps) {
  const app = log.child('headgate_engine::app');
  const paths = sortedPaths(command.configs).map(({ path }) => JSON.stringify(path));
  app.info('Loading configs.', { paths: `[${paths.join(', ')}]` });
  const merged = loadConfigs({
    paths: command.configs,
    interpolate: command.interpolate,
    env,
    onSkipped: (path, reason) =>
      app.error('Config file could not be opened and is skipped.', {
        path: JSON.stringify(path),
        error: reason,
      }),
  });
  const compiled = compile(merged, env);
  for (const warning of compiled.warnings) app.warn(warning);
  const programs = await compileTransforms(compiled);
  const errors = compiled.sources.flatMap(
    ({ id, definition }) => definition.check?.(id, compiled.settings.globals) ?? [],
  );
  if (errors.length > 0) throw new ConfigError(errors);
  return { compiled, programs };
}

function createRegistry(): Registry {
  const registry = new Registry();
  const started = performance.now();
  const uptime = registry.gauge('uptime_seconds');
  registry.onCollect(() => {
    uptime.value = Math.floor((performance.now() - started) / 1000);
  });
  registry.gauge('build_info', {
    version: ENGINE_VERSION,
    arch: targetTriple().split('-')[0]!,
    revision: '',
    debug: 'false',
    rust_version: '',
  }).value = 1;
  return registry;
}

/** Waits for the end; after a stop it gives the components `limitSecs` to drain. */
async function superviseUntilEnd(
  topology: Topology,
  limitSecs: number,
  stop: AbortSignal,
  api: Api | undefined,
  log: Logger,
): Promise<void> {
  let limit: NodeJS.Timeout | undefined;
  let reminder: NodeJS.Timeout | undefined;
  const outOfTime = new Promise<void>((resolve) => {
    const begin = () => {
      log.info('Headgate engine is stopping.');
      api?.drain();
      topology.stop();
      reminder = setInterval(() => log.info('Shutting down... Waiting on running components.'), REMINDER_MS);
      limit = setTimeout(() => {
        log.error('Failed to gracefully shut down in time. Killing components.');
        topology.reportHeld();
        resolve();
      }, limitSecs * 1000);
    };
    if (stop.aborted) begin();
    else stop.addEventListener('abort', begin, { once: true });
  });
  try {
    await Promise.race([topology.finished, outOfTime]);
  } catch (error) {
    topology.reportHeld();
    throw error;
  } finally {
    clearTimeout(limit);
    clearInterval(reminder);
  }
}
