/** Asks an engine executable what it thinks of a config, without its environment: no secret value is ever handed over. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { messageOf } from '../../platform/operation/errors.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import { expandCertificates } from '../../secrets/certificates/index.ts';
import { replaceSecrets } from '../../secrets/index.ts';
import { buildConfig } from './build-config.ts';
import type { EngineValidation } from './checks.ts';
import { type EngineRun, startEngine } from './engine-run.ts';
import { isVrlFunction } from './vrl/vrl-functions.ts';

const CACHED = 5_000;
/** A check takes two engines, each of some 100 MB, and anybody who may read can ask. The others wait their turn. */
const AT_ONCE = 2;
/** How long a prepared engine waits for a config: who changed one thing often changes the next soon. It holds some 100 MB. */
const PREPARED_MS = 5 * 60_000;
/** Its config comes by standard input. */
const VALIDATE = ['validate', '--no-environment', '--config-yaml', '/dev/stdin'];

/** Builds what it reads. Nothing is connected to, and nothing listens: `buildConfig` leaves out what would. */
const BUILD = ['validate', '--skip-healthchecks', '--config-yaml', '/dev/stdin'];
/** A run that has come up and waits for its config. */
interface Started {
  run: EngineRun;
  /** Of a run that builds: its data folder, and all that it may write to. */
  folder: string | null;
}

/** What is there on a node, or taken there by the pipeline itself, is no fault of the config. */
const OF_THE_MACHINE = /os error \d+|No such file|data_dir/;

interface ConfigFault {
  message: string;
  componentKey: string | null;
}

interface EngineReport {
  errors: ConfigFault[];
  /** What this engine lacks, and one of a node may have. */
  unknown: string[];
}

export interface ConfigValidator {
  validate(configYaml: string, signal?: AbortSignal): Promise<EngineValidation>;
  /** Starts an engine for the next config, so that it has come up when that one is there. */
  prepare(): void;
  stop(): void;
}

export function createConfigValidator(options: { engineBin: string | null; log: Logger }): ConfigValidator {
  const cache = new Map<string, EngineValidation>();
  let checker: Promise<string> | null = null;
  let stopped = false;
  let running = 0;
  const waiting: (() => void)[] = [];
  /** One that reads, and one that builds. */
  const prepared = new Map<'read' | 'build', Started & { expiry: NodeJS.Timeout }>();
  const { engineBin } = options;

  async function nameOf(bin: string): Promise<string> {
    const { output } = await startEngine(bin, ['--version']).finish('');
    return output.split('\n')[0]?.split(' ').slice(0, 2).join(' ').trim() || 'the engine';
  }

  function start(bin: string, purpose: 'read' | 'build'): Started {
    if (purpose === 'read') return { run: startEngine(bin, VALIDATE), folder: null };
    const folder = mkdtempSync(join(tmpdir(), 'headgate-engine-build-'));
    return { run: startEngine(bin, BUILD, folder), folder };
  }

  function remove({ folder }: Started): void {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }

  function take(purpose: 'read' | 'build'): Started | null {
    const one = prepared.get(purpose);
    if (!one) return null;
    prepared.delete(purpose);
    clearTimeout(one.expiry);
    if (!one.run.ended()) return one;
    remove(one);
    return null;
  }

  function abandon(purpose: 'read' | 'build'): void {
    const one = take(purpose);
    one?.run.abandon();
    if (one) remove(one);
  }

  function prepare(bin: string): void {
    for (const purpose of ['read', 'build'] as const) {
      if (stopped || prepared.get(purpose)?.run.ended() === false) continue;
      abandon(purpose);
      const expiry = setTimeout(() => abandon(purpose), PREPARED_MS).unref();
      prepared.set(purpose, { ...start(bin, purpose), expiry });
    }
  }

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running < AT_ONCE) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The next caller takes over the slot.
      if (next) next();
      else running -= 1;
    }
  }

  /** Both runs go on side by side: what the second finds counts where the first has found nothing. */
  async function ask(bin: string, configYaml: string, signal?: AbortSignal): Promise<EngineValidation> {
    const [report, faults] = await Promise.all([
      read(bin, configYaml, signal),
      build(bin, configYaml, signal),
    ]);
    const isGood = report.errors.length === 0 && report.unknown.length === 0;
    if (isGood) report.errors.push(...faults);
    checker ??= nameOf(bin);
    return { status: 'checked', checker: await checker, ...report };
  }

  async function read(bin: string, configYaml: string, signal?: AbortSignal): Promise<EngineReport> {
    const text = expandCertificates(replaceSecrets(configYaml, 'placeholder'), '/certificates');
    const hasAnswered = ({ code }: { code: number | null }) => code === 0 || code === 78;
    let answer = await take('read')?.run.finish(text, signal);
    // A prepared one may have died while it waited.
    if (!answer || !hasAnswered(answer)) answer = await startEngine(bin, VALIDATE).finish(text, signal);
    const { code, output } = answer;
    if (!hasAnswered(answer)) throw new Error(`it ended with ${code ?? 'a signal'}`);
    return parseReport(output.replaceAll('/dev/stdin', 'the config'), code === 0, typesOf(configYaml));
  }

  /** What building finds that reading does not. An engine that cannot say has found nothing. */
  async function build(bin: string, configYaml: string, signal?: AbortSignal): Promise<ConfigFault[]> {
    const started = take('build') ?? start(bin, 'build');
    const folder = started.folder ?? tmpdir();
    try {
      const config = buildConfig(configYaml, folder);
      if (!config) return [];
      const text = expandCertificates(replaceSecrets(config.text, 'placeholder'), '/certificates');
      const { code, output } = await started.run.finish(text, signal);
      if (code !== 78) return [];
      return parseReport(output, false)
        .errors.filter(({ message, componentKey }) => {
          return (
            componentKey !== null && config.components.has(componentKey) && !OF_THE_MACHINE.test(message)
          );
        })
        .map((fault) => ({ ...fault, message: fault.message.replaceAll(folder, 'the data folder') }));
    } finally {
      started.run.abandon();
      remove(started);
    }
  }

  return {
    async validate(configYaml, signal) {
      if (engineBin === null)
        return { status: 'unavailable', detail: 'no engine on the controller to check with' };
      const key = createHash('sha256').update(configYaml).digest('base64');
      const known = cache.get(key);
      if (known) return known;
      try {
        const result = await inTurn(async () => {
          signal?.throwIfAborted();
          return ask(engineBin, configYaml, signal);
        });
        prepare(engineBin);
        if (cache.size >= CACHED) cache.clear();
        cache.set(key, result);
        return result;
      } catch (error) {
        checker = null;
        options.log.warn({ reason: messageOf(error) }, 'the engine could not be asked to validate');
        return { status: 'unavailable', detail: `the engine could not be asked: ${messageOf(error)}` };
      }
    },
    prepare() {
      if (engineBin !== null) prepare(engineBin);
    },
    stop() {
      stopped = true;
      abandon('read');
      abandon('build');
    },
  };
}

/** The type of each component as the config writes it. */
function typesOf(configYaml: string): Map<string, string> {
  const config = parse(configYaml) as Record<string, Record<string, { type?: unknown }> | undefined>;
  return new Map(
    [config.sources, config.transforms, config.sinks].flatMap((section) =>
      Object.entries(section ?? {}).map(([key, component]) => [key, String(component.type)] as const),
    ),
  );
}

const UNKNOWN_TYPE = /unknown variant `([^`]+)`[\s\S]*?in `(?:sources|transforms|sinks)\.([^`.]+)`/;
const UNKNOWN_TYPE_AT = /(?:sources|transforms|sinks)\.([\w-]+)(?:\.type)?: unknown variant `([^`]+)`/;
/** Of the reference engine: what Vector has and it has not. */
const LACKING = /(function|option) "([^"]+)" is not available in/;
/** A program in a file of the node's: the controller has none of those. */
const FILE_OF_NODE = /Could not open vrl program "([^"]+)"/;
const COMPONENT =
  /(?:Source|Transform|Sink|for source|for transform|for sink) "([^"]+)"|(?:sources|transforms|sinks)\.([\w-]+)/;

function componentOf(text: string): string | null {
  const found = COMPONENT.exec(text);
  return found?.[1] ?? found?.[2] ?? null;
}

/** The functions that an entry is about; none where it tells of something else too. */
function undefinedFunctions(text: string): string[] {
  const errors = text.split(/^(?=error\[E\d+\]:)/m).filter((part) => part.startsWith('error['));
  const names = errors.map((error) => {
    if (!error.startsWith('error[E105]')) return '';
    const [, line = '', column = ''] = /┌─ :(\d+):(\d+)/.exec(error) ?? [];
    const source = new RegExp(`^${line} │ (.*)$`, 'm').exec(error)?.[1] ?? '';
    return /^[a-z_]\w*/.exec([...source].slice(Number(column) - 1).join(''))?.[0] ?? '';
  });
  return names.includes('') ? [] : names;
}

/**
 * The report marks each entry with `√`, `~` or `x`; an entry goes on until the next mark. `types` tells a type that the
 * engine lacks from another misspelt word: engines report both alike.
 */
export function parseReport(
  output: string,
  passed: boolean,
  types: ReadonlyMap<string, string> = new Map(),
): EngineReport {
  if (passed) return { errors: [], unknown: [] };
  const errors: ConfigFault[] = [];
  const unknown: string[] = [];
  let entry: string[] | null = null;
  const close = () => {
    const text = entry?.join('\n').trim().slice(0, 2000);
    entry = null;
    if (!text) return;
    const at = UNKNOWN_TYPE_AT.exec(text);
    const [, word, key = ''] = UNKNOWN_TYPE.exec(text) ?? (at ? ['', at[2], at[1]] : []);
    const isType = word !== undefined && (types.get(key) ?? word) === word;
    const lacking = LACKING.exec(text);
    const file = FILE_OF_NODE.exec(text)?.[1];
    const functions = undefinedFunctions(text);
    if (functions.length > 0 && functions.every(isVrlFunction))
      unknown.push(...functions.map((name) => `the VRL function ${name}`));
    else if (file !== undefined)
      unknown.push(`the file ${file.slice(0, 200)} of "${componentOf(text) ?? ''}"`);
    else if (lacking?.[1] === 'function') unknown.push(`the VRL function ${lacking[2]}`);
    else if (lacking) unknown.push(`the option ${lacking[2]} of "${componentOf(text) ?? 'global'}"`);
    else if (isType) unknown.push(`the component type ${word} of "${key}"`);
    else {
      errors.push({
        message: text
          .split('\n')
          .map((line) => line.trim())
          .filter(Boolean)
          .slice(0, 6)
          .join(' '),
        componentKey: componentOf(text),
      });
    }
  };
  for (const line of output.split('\n')) {
    if (
      /^[√~] /.test(line) ||
      /^-{3,}$/.test(line) ||
      /^(Failed to load|Transform errors|Component errors|Loaded with warnings)/.test(line)
    )
      close();
    else if (line.startsWith('x ')) {
      close();
      entry = [line.slice(2)];
    } else if (entry !== null) (entry as string[]).push(line);
  }
  close();
  if (errors.length === 0 && unknown.length === 0) {
    errors.push({
      message:
        output.trim().split('\n').slice(-3).join(' ').slice(0, 500) ||
        'the config was refused without a reason',
      componentKey: null,
    });
  }
  return { errors, unknown };
}
