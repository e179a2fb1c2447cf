import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from './cli.ts';
import { buildErrors, type Compiled, compile } from './config/compile.ts';
import { ConfigError } from './config/config-error.ts';
import { ConfigFileMissing, loadConfigs, sortedPaths } from './config/load.ts';
import { dataDirErrors } from './data-dir.ts';
import { EXIT_CONFIG, EXIT_OK } from './exit-codes.ts';
import type { Logger } from './log.ts';
import { checkHealth, logUnhealthy } from './topology/health-checks.ts';
import { buildTransforms } from './vrl/compile-transforms.ts';
import { loadVerel } from './vrl/program.ts';

type ValidateCommand = Extract<Command, { kind: 'validate' }>;

export interface ValidateDeps {
  env: Record<string, string | undefined>;
  write(text: string): void;
  onSkipped(path: string, reason: string): void;
  log: Logger;
}

/** Checks files as Vector's `validate` does, prints its report and gives the exit code. */
export async function validate(command: ValidateCommand, deps: ValidateDeps): Promise<number> {
  const report = new Report(deps.write);
  // The writer of a pipe may write later: VRL is loaded by then.
  if (command.configs.some(({ path }) => isPipe(path))) await loadVerel();
  const compiled = loadStep(command, deps, report);
  if (!compiled) return EXIT_CONFIG;

  try {
    await buildTransforms(compiled);
    report.success('Transforms configuration');
  } catch (error) {
    report.section('Transform errors', 'x', messagesOf(error));
    return EXIT_CONFIG;
  }
  if (!command.noEnvironment && !(await environmentStep(command, compiled, report, deps.log)))
    return EXIT_CONFIG;
  report.validated();
  return EXIT_OK;
}

function isPipe(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() ?? false;
}

function loadStep(command: ValidateCommand, deps: ValidateDeps, report: Report): Compiled | undefined {
  const names = `[${sortedPaths(command.configs)
    .map(({ path }) => JSON.stringify(path))
    .join(', ')}]`;
  try {
    const merged = loadConfigs({
      paths: command.configs,
      interpolate: command.interpolate,
      env: deps.env,
      onSkipped: deps.onSkipped,
    });
    const compiled = compile(merged, deps.env);
    if (compiled.warnings.length === 0) report.success(`Loaded ${names}`);
    else if (command.denyWarnings) throw new ConfigError(compiled.warnings);
    else report.section(`Loaded with warnings ${names}`, '~', compiled.warnings);
    return compiled;
  } catch (error) {
    if (error instanceof ConfigFileMissing) {
      const target = deps.log.child('headgate_engine::config::loading');
      const fields = { path: JSON.stringify(error.path), internal_log_rate_limit: false };
      target.error('Config file not found in path.', fields);
    } else report.section(`Failed to load ${names}`, 'x', messagesOf(error));
    return undefined;
  }
}

async function environmentStep(
  command: ValidateCommand,
  compiled: Compiled,
  report: Report,
  log: Logger,
): Promise<boolean> {
  const { settings, sources, sinks } = compiled;
  const [unusable] = dataDirTrial(settings.globals.dataDir);
  if (unusable !== undefined) {
    report.error(unusable);
    return false;
  }
  const errors = [
    ...buildErrors('Source', sources, settings.globals),
    ...buildErrors('Sink', sinks, settings.globals),
  ];
  if (errors.length > 0) {
    report.section('Component errors', 'x', errors);
    return false;
  }
  report.success('Component configuration');
  if (command.skipHealthchecks) return true;
  if (!settings.healthchecks) {
    report.warning('Health checks are disabled');
    return !command.denyWarnings;
  }
  let good = true;
  for (const node of sinks) {
    const { id, healthcheck } = node;
    const reason = await checkHealth(node);
    if (reason !== undefined) {
      logUnhealthy(log.child('headgate_engine::topology::builder'), node, reason);
      report.error(`Health check for "${id}" failed: ${reason}`);
      good = false;
    } else if (healthcheck.enabled) report.success(`Health check "${id}"`);
    else {
      report.warning(`Health check disabled for "${id}"`);
      good &&= !command.denyWarnings;
    }
  }
  return good;
}

/** Vector keeps what components write while they are built in a folder of its own, and removes it. */
function dataDirTrial(dataDir: string): string[] {
  const errors = dataDirErrors(dataDir);
  if (errors.length > 0) return errors;
  const folder = join(dataDir, 'validate_tmp');
  try {
    mkdirSync(folder, { recursive: true });
    rmSync(folder, { recursive: true, force: true });
    return [];
  } catch {
    return [`data_dir "${dataDir}" is not writable`];
  }
}

function messagesOf(error: unknown): string[] {
  if (error instanceof ConfigError) return error.messages;
  throw error;
}

/** The lay-out of the report: marks at the start of entries, rules as wide as what stands above them. */
class Report {
  readonly #write: (text: string) => void;
  #width = 0;
  #printed = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  success(message: string): void {
    this.#print(`√ ${message}\n`);
  }

  warning(message: string): void {
    this.#print(`~ ${message}\n`);
  }

  error(message: string): void {
    this.#print(`x ${message}\n`);
  }

  section(title: string, mark: '~' | 'x', messages: readonly string[]): void {
    this.#space();
    this.#print(`${title}\n${'-'.repeat(title.length)}\n`);
    for (const message of messages) this.#print(`${mark} ${message}\n`);
    this.#space();
  }

  validated(): void {
    this.#write(`${'-'.repeat(this.#width)}\n${'Validated'.padStart(this.#width)}\n`);
  }

  #space(): void {
    if (this.#printed) this.#write('\n');
    this.#printed = false;
  }

  #print(text: string): void {
    this.#width = Math.max(this.#width, ...text.split('\n').map((line) => line.length));
    this.#printed = true;
    this.#write(text);
  }
}
