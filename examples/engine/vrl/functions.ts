/** Functions that Vector has and that the WebAssembly build of VRL lacks, fails in or stops at. */
const UNAVAILABLE = new Set([
  'aggregate_vector_metrics',
  'dns_lookup',
  'encode_proto',
  'find_enrichment_table_records',
  'find_vector_metrics',
  'get_enrichment_table_record',
  'get_env_var',
  'get_hostname',
  'get_secret',
  'get_vector_metric',
  'haversine',
  'http_request',
  'log',
  'parse_dnstap',
  'parse_grok',
  'parse_groks',
  'parse_proto',
  'remove_secret',
  'reverse_dns',
  'set_secret',
  'set_semantic_meaning',
  'validate_json_schema',
  'xxhash',
]);

// Comments, strings, and raw strings, regular expressions and times.
const NOT_CODE = /#[^\n]*|"(?:\\[\s\S]|[^"\\])*"|[rst]'(?:\\[\s\S]|[^'\\])*'/g;

/** The first call of a function that cannot run here: its name and its place in the text. */
export function findUnavailableCall(
  program: string,
): { name: string; start: number; end: number } | undefined {
  const code = program.replace(NOT_CODE, (text) => ' '.repeat(text.length));
  for (const match of code.matchAll(/(?<![.\w])([a-z_]\w*)!?\s*\(/g)) {
    const name = match[1]!;
    if (UNAVAILABLE.has(name)) return { name, start: match.index, end: match.index + name.length };
  }
  return undefined;
}
