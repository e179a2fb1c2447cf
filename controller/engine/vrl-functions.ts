/** Functions of the engine that the VRL compiler at hand, which is WebAssembly, lacks: no fault of a program. */
const LACKING: ReadonlySet<string> = new Set([
  'aggregate_vector_metrics',
  'dns_lookup',
  'encode_proto',
  'find_enrichment_table_records',
  'find_vector_metrics',
  'get_enrichment_table_record',
  'get_hostname',
  'get_secret',
  'get_vector_metric',
  'haversine',
  'http_request',
  'parse_dnstap',
  'parse_proto',
  'remove_secret',
  'reverse_dns',
  'set_secret',
  'set_semantic_meaning',
  'validate_json_schema',
  'xxhash',
]);

export const isLacking = (name: string): boolean => LACKING.has(name);

/** Those that compile, and that stop when they are called. */
const CANNOT_RUN = new Set([...LACKING, 'get_env_var', 'log', 'parse_grok', 'parse_groks']);

// Comments, strings, and raw strings, regular expressions and times.
const NOT_CODE = /#[^\n]*|"(?:\\[\s\S]|[^"\\])*"|[rst]'(?:\\[\s\S]|[^'\\])*'/g;

/** The program without what is no code, at the same places. */
export const codeOf = (program: string): string =>
  program.replace(NOT_CODE, (text) => ' '.repeat(text.length));

export interface Call {
  name: string;
  /** In UTF-16 units. */
  start: number;
  end: number;
}

/** The calls of functions that cannot run here, in order, at most 100. */
export function callsThatCannotRun(program: string): Call[] {
  const code = codeOf(program);
  const calls: Call[] = [];
  for (const match of code.matchAll(/(?<![.\w])([a-z_]\w*)!?\s*\(/g)) {
    const name = match[1] ?? '';
    if (CANNOT_RUN.has(name)) calls.push({ name, start: match.index, end: match.index + name.length });
    if (calls.length === 100) break;
  }
  return calls;
}
