/** Asks an engine executable what it thinks of a config, without its environment: no secret value is ever handed over. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { messageOf } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import { searchPath } from '../platform/search-path.ts';
import { secretReferences } from '../secrets/index.ts';
import type { EngineValidation } from './checks.ts';

const DEADLINE_MS = 10_000;
const OUTPUT_BYTES = 256 * 1024;
const CACHED = 5_000;

export interface ConfigValidator {
  validate(configYaml: string, signal?: AbortSignal): Promise<EngineValidation>;
}

export function createConfigValidator(options: { engineBin: string | null; log: Logger }): ConfigValidator {
  const cache = new Map<string, EngineValidation>();
  let checker: Promise<string> | null = null;
  const { engineBin } = options;

  async function nameOf(bin: string): Promise<string> {
    const { output } = await run(bin, ['--version'], {});
    return output.split('\n')[0]?.split(' ').slice(0, 2).join(' ').trim() || 'the engine';
  }

  return {
    async validate(configYaml, signal) {
      if (engineBin === null)
        return { status: 'unavailable', detail: 'no engine on the controller to check with' };
      const key = createHash('sha256').update(configYaml).digest('base64');
      const known = cache.get(key);
      if (known) return known;
      try {
        checker ??= nameOf(engineBin);
        const result = await validateWith(engineBin, await checker, configYaml, signal);
        if (cache.size >= CACHED) cache.clear();
        cache.set(key, result);
        return result;
      } catch (error) {
        checker = null;
        options.log.warn({ reason: messageOf(error) }, 'the engine could not be asked to validate');
        return { status: 'unavailable', detail: `the engine could not be asked: ${messageOf(error)}` };
      }
    },
  };
}

async function validateWith(
  bin: string,
  checker: string,
  configYaml: string,
  signal?: AbortSignal,
): Promise<EngineValidation> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-validate-'));
  try {
    const file = join(folder, 'pipeline.yaml');
    await writeFile(file, configYaml, { mode: 0o600 });
    const stand = Object.fromEntries(
      secretReferences(configYaml).map(({ variable }) => [variable, 'placeholder']),
    );
    const { code, output } = await run(bin, ['validate', '--no-environment', file], stand, signal);
    if (code !== 0 && code !== 78) throw new Error(`it ended with ${code ?? 'a signal'}`);
    return {
      status: 'checked',
      checker,
      ...parseReport(output.replaceAll(folder, ''), code === 0, typesOf(configYaml)),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
const COMPONENT =
  /(?:Source|Transform|Sink|for source|for transform|for sink) "([^"]+)"|(?:sources|transforms|sinks)\.([\w-]+)/;

function componentOf(text: string): string | null {
  const found = COMPONENT.exec(text);
  return found?.[1] ?? found?.[2] ?? null;
}

/**
 * The report marks each entry with `√`, `~` or `x`; an entry goes on until the next mark. `types` tells a type that the
 * engine lacks from another misspelt word: engines report both alike.
 */
export function parseReport(
  output: string,
  passed: boolean,
  types: ReadonlyMap<string, string> = new Map(),
): { errors: { message: string; componentKey: string | null }[]; unknown: string[] } {
  if (passed) return { errors: [], unknown: [] };
  const errors: { message: string; componentKey: string | null }[] = [];
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
    if (lacking?.[1] === 'function') unknown.push(`the VRL function ${lacking[2]}`);
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

function run(
  bin: string,
  args: string[],
  variables: Record<string, string>,
  signal?: AbortSignal,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(bin, args, {
      env: {
        PATH: searchPath,
        VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION: 'true',
        ...variables,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: DEADLINE_MS,
      killSignal: 'SIGKILL',
      ...(signal ? { signal } : {}),
    });
    let output = '';
    const collect = (chunk: Buffer) => {
      if (output.length < OUTPUT_BYTES) output += chunk.toString('utf8');
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
