/** Looks into the YAML of an engine config without parsing it: a parser would cost an agent memory for rare questions. */

/** Where the engine keeps its data unless a config says otherwise. A config that names it yields to the sidecar. */
const DEFAULT_DATA_DIR = '/var/lib/vector';
const DATA_DIR_LINE = /^(["']?)data_dir\1[ \t]*:.*$/m;
const PLAIN_VALUE = /:[ \t]*(?:"([^"\\]*)"|'([^']*)'|([^\s#"'|>&*!][^#]*?))[ \t]*(?:#.*)?\r?$/;

/** A folder of its own that the config sets; undefined where there is none, or the engine's default. */
export function ownDataDir(configYaml: string): string | undefined {
  const line = DATA_DIR_LINE.exec(configYaml)?.[0];
  if (line === undefined) return undefined;
  const value = dataDirOf(line);
  return value?.replace(/\/+$/, '') === DEFAULT_DATA_DIR ? undefined : (value ?? '');
}

/** The config with another folder in that line. All other lines stay where they are. */
export function withDataDir(configYaml: string, path: string): string {
  return configYaml.replace(DATA_DIR_LINE, (line) =>
    dataDirOf(line) === undefined ? line : `data_dir: ${quoteYaml(path)}`,
  );
}

function dataDirOf(line: string): string | undefined {
  const [, double, single, plain] = PLAIN_VALUE.exec(line) ?? [];
  return double ?? single ?? plain;
}

/** The engine expands `$` in the whole file before it parses it; `$$` stands for one. */
export function quoteYaml(text: string): string {
  return JSON.stringify(text.replaceAll('$', '$$$$'));
}

/** The lines of one component, in the block form that the controller renders; undefined where it is not found. */
export function componentBlock(configYaml: string, id: string): string | undefined {
  const lines = configYaml.split('\n');
  const names = new Set([id, JSON.stringify(id), `'${id}'`]);
  /** Of the ids in the section; undefined outside of one. */
  let indent: number | undefined;
  for (const [index, line] of lines.entries()) {
    if (/^\S/.test(line)) {
      const isSection = /^(sources|transforms|sinks|enrichment_tables):/.test(line);
      indent = isSection ? lines[index + 1]?.search(/\S/) : undefined;
    }
    const key = /^( +)(.+?):\s*$/.exec(line);
    if (key?.[1]?.length !== indent || !names.has(key?.[2] ?? '')) continue;
    const rest = lines.slice(index + 1);
    const end = rest.findIndex((next) => next.trim() !== '' && next.search(/\S/) <= (indent ?? 0));
    return rest.slice(0, end === -1 ? rest.length : end).join('\n');
  }
  return undefined;
}

/** Ports in the addresses and port options of such a block. */
export function portsIn(block: string): number[] {
  const found = block.matchAll(/^[ \t]*(?:- )?["']?\w*(?:address|port|endpoint)\w*["']?:\s*(\S.*)$/gim);
  return [...found].flatMap(([, value = '']) => {
    const port = /(?:^|:)["']?(\d{1,5})["']?\s*(?:#.*)?$/.exec(value.replace(/["']/g, ''))?.[1];
    return port === undefined ? [] : [Number(port)];
  });
}
