// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as they are written in manifests
/** Tests of transforms with what must become of them, whoever runs them. */
import type { TransformTest } from '../../controller/pipelines/index.ts';
import { definition } from './definition.ts';

/** Ten characters, doubled thirty times. */
const HUGE = `x = "aaaaaaaaaa"\nfor_each([${Array.from({ length: 30 }, (_, n) => n).join(',')}]) -> |_i, _v| { x = x + x }\n.x = x`;
/** 51 to the fifth: minutes on any machine. */
const ENDLESS = `n = 0
a = split("${'a,'.repeat(50)}a", ",")
for_each(a) -> |_i, _v| { for_each(a) -> |_j, _w| { for_each(a) -> |_k, _x| { for_each(a) -> |_l, _y| { for_each(a) -> |_m, _z| { n = n + 1 } } } } }
.n = n`;

const TRANSFORMS = {
  parse: {
    type: 'remap',
    inputs: ['in'],
    source: '. = parse_json!(.message)\n.price = "$$5"\n.key = "${SVC_SECRET_KEY}"',
    drop_on_error: true,
    reroute_dropped: true,
  },
  lenient: { type: 'remap', inputs: ['in'], source: '.parsed = parse_json!(.message)' },
  errors: { type: 'filter', inputs: ['parse'], condition: '.level == "error"' },
  split: {
    type: 'route',
    inputs: ['parse'],
    route: { errors: '.level == "error"', odd: { type: 'vrl', source: '.n == 1' } },
  },
  fork: { type: 'remap', inputs: ['in'], source: '. = [{"a": 1}, {"a": 2, "password": "hunter2"}]' },
  stop: { type: 'remap', inputs: ['in'], source: 'abort' },
  pass: { type: 'remap', inputs: ['in'], source: 'abort', drop_on_abort: false },
  huge: { type: 'remap', inputs: ['in'], source: HUGE, drop_on_error: true },
  endless: { type: 'remap', inputs: ['in'], source: ENDLESS },
  once: { type: 'dedupe', inputs: ['in'], fields: { match: ['a'] } },
  script: { type: 'lua', inputs: ['in'], version: '2', source: 'os.execute("touch /tmp/x")' },
  grok: { type: 'remap', inputs: ['in'], source: '. |= parse_grok!(.message, "%{WORD:w}")' },
  asking: { type: 'remap', inputs: ['in'], source: '.ip = dns_lookup!("example.com")' },
  filed: { type: 'remap', inputs: ['in'], file: '/etc/passwd' },
  odd: { type: 'filter', inputs: ['in'], condition: { type: 'datadog_search', source: 'x' } },
};

export const tested = (tests: readonly TransformTest[]) => ({
  ...definition({
    sources: { in: { type: 'demo_logs', format: 'json' } },
    transforms: TRANSFORMS,
    sinks: { out: { type: 'blackhole', inputs: ['parse'] } },
  }),
  tests,
});

export interface Row {
  it: string;
  component: string;
  input: unknown;
  expect: string;
  /** Null where it passes. */
  fails: RegExp | null;
}

const row = (
  it: string,
  component: string,
  input: unknown,
  expect: string,
  fails: RegExp | null = null,
): Row => ({
  it,
  component,
  input,
  expect,
  fails,
});

const error = { message: '{"level":"error"}' };

/** Those that end alike with an engine and without. */
export const ROWS: readonly Row[] = [
  row(
    'sees what the program made, and a dollar for two',
    'parse',
    error,
    '.level == "error" && .price == "$5"',
  ),
  row(
    'takes a dollar in the condition and in the event as it is',
    'errors',
    { level: 'error', p: '$HOME ${X} $$' },
    '.p == "$HOME ${X} $$"',
  ),
  row('never sees the value of a secret', 'parse', error, '.key == "secret" || .key == "placeholder"'),
  row(
    'takes a program of several lines as the condition',
    'parse',
    error,
    '# a level\nlevel = string!(.level)\nstarts_with(level, "err")',
  ),
  row(
    'takes text of any kind',
    'errors',
    { level: 'error', text: 'a\'b"c\\d{{ e }}\n\u0000ü😀' },
    'starts_with!(.text, "a\'b\\"c")',
  ),
  row(
    'shows what came out instead',
    'parse',
    { message: '{"level":"info"}' },
    '.level == "error"',
    /^expect is not true of what came out of "parse": .*"level":"info"/,
  ),
  row(
    'fails where a program drops its event',
    'parse',
    { message: '{' },
    '.level == "error"',
    /^no event came out of "parse"; if none should, write expect: "false"/,
  ),
  row(
    'finds a dropped event at its own output, with the reason',
    'parse.dropped',
    { message: '{' },
    '.message == "{" && .metadata.dropped.reason == "error"',
  ),
  row(
    'lets an event pass as it came where a failed program drops nothing',
    'lenient',
    { message: '{' },
    '.message == "{" && !exists(.parsed)',
  ),
  row('says by the condition false that nothing may come', 'parse', { message: '{' }, ' false '),
  row(
    'and fails where something does',
    'parse',
    error,
    'false',
    /^1 event came out of "parse" and none should/,
  ),
  row('drops what a program aborts', 'stop', { a: 1 }, 'false'),
  row('or passes it, as the transform says', 'pass', { a: 1 }, '.a == 1'),
  row(
    'looks at what passes a filter',
    'errors',
    [{ level: 'error' }, { level: 'info' }],
    '.level == "error"',
  ),
  row('and sees what does not', 'errors', { level: 'info' }, 'true', /^no event came out of "errors"/),
  row('looks at one output of a route', 'split.errors', { level: 'error', n: 1 }, '.n == 1'),
  row('and at what no route takes', 'split._unmatched', { level: 'info' }, 'true'),
  row(
    'wants every event to fulfil the condition',
    'fork',
    { a: 0 },
    '.a == 1',
    /2 events that came out of "fork"/,
  ),
  row('and is content where every one does', 'fork', { a: 0 }, '.a == 1 || .a == 2'),
  row('hides what looks like a credential', 'fork', { a: 0 }, 'false', /"a":1/),
  row(
    'takes a condition that fails for one that is not met',
    'errors',
    { level: 'error' },
    'parse_json!(.level) == 1',
    /^expect is not true of what came out of "errors"/,
  ),
  row(
    'says where a condition does not compile',
    'errors',
    { level: 'error' },
    '.a == 1 &&\n  .b = ',
    /^expect does not compile: syntax error \(E20\d\) at its line 2/,
  ),
  row(
    'names the transform that was meant',
    'pars',
    error,
    'true',
    /^there is no transform "pars"; did you mean "parse"\?$/,
  ),
  row('tests no source', 'in', error, 'true', /^"in" is no transform/),
  row(
    'names the outputs of a transform that has only named ones',
    'split',
    error,
    'true',
    /name split\.errors, split\.odd, split\._unmatched$/,
  ),
  row(
    'and of one that lacks the named one',
    'errors.nope',
    error,
    'true',
    /has no output "nope"; name errors$/,
  ),
  row('wants events that are objects', 'errors', ['text'], 'true', /is a string and not an object/),
  row('and at least one', 'errors', [], 'true', /empty list/),
  row(
    'ends one that takes too long, and runs the next',
    'endless',
    { a: 1 },
    '.n == 1',
    /^it ran longer than 2 s and was ended/,
  ),
  row('runs what stands behind that', 'errors', { level: 'error' }, 'true'),
];

export const testOf = ({ it, component, input, expect }: Omit<Row, 'fails'>): TransformTest => ({
  name: it,
  component,
  input,
  expect,
});

/** Those that nobody on the controller runs, with the reason. */
export const NOWHERE: readonly (Omit<Row, 'fails'> & { skipped: RegExp })[] = [
  {
    it: 'a program that is free to do anything',
    component: 'script',
    input: {},
    expect: 'true',
    skipped: /type lua/,
  },
  { it: 'one that asks the network', component: 'asking', input: {}, expect: 'true', skipped: /dns_lookup/ },
  { it: 'one in a file', component: 'filed', input: {}, expect: 'true', skipped: /in a file on the nodes/ },
  {
    it: 'a condition of another language',
    component: 'odd',
    input: {},
    expect: 'true',
    skipped: /another language/,
  },
  {
    it: 'a function that VRL lacks here',
    component: 'grok',
    input: { message: 'a' },
    expect: 'true',
    skipped: /parse_grok/,
  },
];
