/** Compiles VRL in a thread of its own: it is CPU-heavy, 80 MB once loaded, and a program comes from outside. */
import { parentPort } from 'node:worker_threads';
import verel, { type CompilationDiagnostic } from '@bpinternal/verel';
import type { ProgramResult } from './checks.ts';

/** Functions of the engine that this build of VRL lacks: no fault of the program. */
const LACKING = new Set([
  'aggregate_vector_metrics',
  'find_enrichment_table_records',
  'find_vector_metrics',
  'get_enrichment_table_record',
  'get_secret',
  'get_vector_metric',
  'remove_secret',
  'set_secret',
  'set_semantic_meaning',
  'dns_lookup',
  'reverse_dns',
  'http_request',
  'get_hostname',
  'haversine',
  'parse_dnstap',
  'encode_proto',
  'parse_proto',
  'validate_json_schema',
  'xxhash',
]);
const UNDEFINED_FUNCTION = 105;

function place(source: string, byteOffset: number): { line: number; column: number } {
  const before = Buffer.from(source, 'utf8').subarray(0, byteOffset).toString('utf8').split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function called(source: string, diagnostic: CompilationDiagnostic): string {
  const span = (diagnostic.labels.find((label) => label.primary) ?? diagnostic.labels[0])?.span ?? [0, 0];
  return Buffer.from(source, 'utf8')
    .subarray(span[0], span[1])
    .toString('utf8')
    .replace(/[!(].*$/s, '');
}

/** The engine turns `$$` into `$` and fills in `${…}` before it compiles; the same is done here. */
function asEngineSees(source: string): string {
  return source.replaceAll(/\$(\$|\{[^}]*\})/g, (_, what: string) => (what === '$' ? '$' : 'secret'));
}

function compile(written: string): ProgramResult {
  const source = asEngineSees(written);
  const result: ProgramResult = { errors: [], unknown: [] };
  for (const diagnostic of verel.check(source).errors) {
    const name = diagnostic.code === UNDEFINED_FUNCTION ? called(source, diagnostic) : '';
    if (LACKING.has(name)) {
      result.unknown.push(`the VRL function ${name}`);
      continue;
    }
    const labels = [...diagnostic.labels].sort((a, b) => Number(b.primary) - Number(a.primary));
    const said = labels.map((label) => label.message).filter((text) => text !== '');
    const suggestion = said.find((text) => text.startsWith('did you mean'));
    const details = said.filter((text) => text !== suggestion);
    const notes = diagnostic.notes.map((note) => note.message).filter((text) => text !== '');
    result.errors.push({
      message: [`${diagnostic.message} (E${String(diagnostic.code).padStart(3, '0')})`, ...details].join(
        '; ',
      ),
      ...place(source, labels[0]?.span[0] ?? 0),
      hint: suggestion ?? notes[0] ?? `see https://errors.vrl.dev/${diagnostic.code}`,
    });
  }
  return result;
}

parentPort?.on('message', ({ id, sources }: { id: number; sources: string[] }) => {
  const results = sources.map((source) => {
    try {
      return compile(source);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { errors: [], unknown: [`this program (the VRL compiler failed: ${message.slice(0, 200)})`] };
    }
  });
  parentPort?.postMessage({ id, results });
});
