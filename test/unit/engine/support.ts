import { type Compiled, compile } from '../../../examples/engine/config/compile.ts';
import { ConfigError } from '../../../examples/engine/config/config-error.ts';
import { parseConfig } from '../../../examples/engine/config/load.ts';
import { mergeConfigs } from '../../../examples/engine/config/merge.ts';
import { createLogger, type Logger } from '../../../examples/engine/log.ts';

/** Compiles one or more YAML texts as the engine would. */
export function compileYaml(...texts: string[]): Compiled {
  return compile(mergeConfigs(texts.map((text) => parseConfig(text, 'yaml'))), {});
}

/** The messages with which YAML texts are refused; empty if they are good. */
export function configErrors(...texts: string[]): string[] {
  try {
    compileYaml(...texts);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.messages;
    throw error;
  }
}

/** A logger that collects its lines. */
export function collectingLogger(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  return { log: createLogger({ level: 'trace', format: 'text', write: (line) => lines.push(line) }), lines };
}
