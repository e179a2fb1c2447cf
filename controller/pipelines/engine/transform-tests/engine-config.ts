/** The tests as a config for the engine's own `test`. */
import { stringify } from 'yaml';
import { expandCertificates } from '../../../secrets/certificates/index.ts';
import { replaceSecrets } from '../../../secrets/index.ts';
import { codeOf } from '../vrl/vrl-functions.ts';
import { outputName, type TransformCase, wantsNothing } from './test-case.ts';

/**
 * Transforms that only compute. Others are not run on the controller: a Lua program is free to do there what the
 * controller may, and authors of manifests may not.
 */
export const COMPUTING: ReadonlySet<string> = new Set([
  'absolute_to_incremental',
  'aggregate',
  'dedupe',
  'exclusive_route',
  'filter',
  'incremental_to_absolute',
  'log_to_metric',
  'metric_to_log',
  'reduce',
  'remap',
  'route',
  'sample',
  'tag_cardinality_limit',
  'throttle',
  'trace_to_log',
  'window',
]);
/** Of VRL: what they ask is not in the event. */
export const REACHING_OUT =
  /\b(?:http_request|dns_lookup|reverse_dns|get_env_var|get_hostname|find_enrichment_table_records|get_enrichment_table_record)\b/;
/** Of VRL: functions, and an argument of one, that read a file of the machine while they are compiled. */
export const READING_FILES = /\b(?:parse_proto|encode_proto|validate_json_schema|alias_sources)\b/;
/**
 * The engine expands variables before it reads anything, so a default can end a text of the program and begin code. Only
 * what is replaced here is taken: a secret, and the folder of certificates, each without a default. `$$` is a dollar.
 */
const VARIABLE =
  /\$\$|\$\{(?:SVC_SECRET_[A-Z0-9_]+|SVC_CERT_DIR)\}|\$(?:SVC_SECRET_[A-Z0-9_]+|SVC_CERT_DIR)(?![\w.])|(\$\{|\$[\w.])/g;
/** Other sections that a transform may depend on, and that name no file. */
const SECTIONS = ['log_schema', 'schema', 'timezone'];

/** Why the controller does not let its engine run a test; null where it does. */
export function reasonNotToRun(
  { key, type, options, port, expect }: TransformCase,
  global: Record<string, unknown>,
): string | null {
  if (!COMPUTING.has(type)) return `transforms of type ${type} are not run on the controller`;
  if (options.file !== undefined || options.files !== undefined) {
    return 'its program is in a file on the nodes';
  }
  // It would end the condition as if it were met.
  if (/\babort\b/.test(codeOf(expect))) return 'expect calls abort';
  const programs = JSON.stringify([options, expect]);
  const found = REACHING_OUT.exec(programs);
  if (found) return `the VRL function ${found[0]} is not run on the controller`;
  const reading = READING_FILES.exec(programs);
  if (reading) return `${reading[0]} would read a file of the controller`;
  const around = SECTIONS.map((name) => global[name]);
  return expands(JSON.stringify([key, port, options, around]))
    ? 'it takes a variable with a default, or of the node'
    : null;
}

export const expands = (text: string): boolean =>
  [...text.matchAll(VARIABLE)].some(([, of]) => of !== undefined);

/** Names that no pipeline uses: keys that begin so are refused. */
export const testerName = (index: number): string => `svc_expect_${index}`;
/** A test that stands first and always passes: from its line on, tests are what takes time. */
const READY = 'svc_ready';
export const isReady = (stdout: string): boolean => stdout.includes(`test ${READY} ... `);
export const testName = (index: number): string => `svc_test_${index}`;

/**
 * `asked`: whether each case holds. The engine's conditions are met by one event; here every event must meet one, so a
 * transform behind the one under test swallows those that do, and nothing may come out of it.
 * `shown`: the same cases, so that each fails and the engine tells what came out.
 */
export function engineConfig(
  purpose: 'asked' | 'shown',
  cases: ReadonlyMap<number, TransformCase>,
  global: Record<string, unknown>,
): string {
  const transforms: Record<string, unknown> = {
    [READY]: { type: 'filter', inputs: ['svc_source'], condition: vrl('true') },
  };
  const tests: unknown[] = [
    { name: READY, inputs: [inputOf(READY, {})], outputs: [{ extract_from: READY }] },
  ];
  for (const [index, one] of cases) {
    const output = outputName(one);
    // What it takes from on the nodes is not here; the engine leaves it out.
    transforms[one.key] = { type: one.type, inputs: ['svc_source'], ...one.options };
    const test = { name: testName(index), inputs: one.events.map((event) => inputOf(one.key, event)) };
    if (purpose === 'shown') {
      tests.push({ ...test, outputs: [{ extract_from: output, conditions: [vrl('false')] }] });
    } else if (wantsNothing(one)) {
      tests.push({ ...test, no_outputs_from: [output] });
    } else {
      const tester = testerName(index);
      transforms[tester] = {
        type: 'remap',
        inputs: [output],
        drop_on_abort: true,
        drop_on_error: false,
        source: `svc_met = {\n${literal(one.expect)}\n}\nif svc_met == true { abort }`,
      };
      const some = { extract_from: output, conditions: [vrl('true')] };
      tests.push({ ...test, outputs: [some], no_outputs_from: [tester] });
    }
  }
  const sections = Object.fromEntries(
    SECTIONS.flatMap((name) => (global[name] === undefined ? [] : [[name, global[name]]])),
  );
  const config = { ...sections, transforms, tests };
  const text = stringify(config, { lineWidth: 0, aliasDuplicateObjects: false });
  return expandCertificates(replaceSecrets(text, 'placeholder'), '/certificates');
}

const vrl = (source: string) => ({ type: 'vrl', source });
/** The engine reads variables in the whole file. */
const literal = (text: string): string => text.replaceAll('$', '$$$$');

/** Neither quotes nor dollars of an event can be taken for something else. */
function inputOf(key: string, event: object) {
  const text = Buffer.from(JSON.stringify(event)).toString('base64');
  return { insert_at: key, type: 'vrl', source: `. = parse_json!(decode_base64!("${text}"))` };
}
