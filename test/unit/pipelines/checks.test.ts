// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as they are written in manifests
import { expect } from 'chai';
import fc from 'fast-check';
import {
  checkReferences,
  checkStructure,
} from '../../../controller/pipelines/definition/checks/check-graph.ts';
import {
  type CheckOptions,
  checkPipeline,
} from '../../../controller/pipelines/definition/checks/check-pipeline.ts';
import { checkVariables } from '../../../controller/pipelines/definition/checks/check-variables.ts';
import { programsOf } from '../../../controller/pipelines/definition/checks/programs.ts';
import { componentsOf, type Definition } from '../../../controller/pipelines/definition/definition.ts';
import type {
  EngineChecks,
  EngineValidation,
  ProgramResult,
} from '../../../controller/pipelines/engine/index.ts';
import { definition, soundDefinition } from '../../support/fixtures/definition.ts';
import { cpuMs, patient } from '../../support/harness/patience.ts';

const sources: Definition['sources'] = { app: { type: 'file' } };
const sinks: Definition['sinks'] = { out: { type: 'blackhole', inputs: ['app'] } };
const sound = definition({ sources, sinks });

describe('the structure of a pipeline', () => {
  const faults = (of: Definition) => checkStructure(componentsOf(of), !of.deployed);

  const rows: { reason: string; of: Definition; pointer: string; message: RegExp }[] = [
    { reason: 'it has no source', of: definition({ sinks }), pointer: '/sources', message: /has no source/ },
    { reason: 'it has no sink', of: definition({ sources }), pointer: '/sinks', message: /has no sink/ },
    {
      reason: 'its only source is switched off',
      of: definition({ sources, sinks, components: { app: { disabled: true } } }),
      pointer: '/sources',
      message: /has no source/,
    },
    {
      reason: 'a key begins as those of the agent do',
      of: definition({ sources: { ...sources, svc_mine: { type: 'file' } }, sinks }),
      pointer: '/sources/svc_mine',
      message: /begins with svc_/,
    },
    {
      reason: 'two components have one key',
      of: definition({ sources, transforms: { out: { type: 'remap', inputs: ['app'] } }, sinks }),
      pointer: '/sinks/out',
      message: /"out" is used in transforms and in sinks/,
    },
  ];
  for (const { reason, of, pointer, message } of rows) {
    it(`is wrong where ${reason}`, () => {
      const found = faults(of);
      expect(found.map((one) => one.pointer)).to.deep.equal([pointer]);
      expect(found[0]?.message).to.match(message);
      expect(found[0]?.hint).not.to.equal('');
    });
  }

  it('may lack source and sink as long as it is a draft', () => {
    expect(faults(definition({ deployed: false }))).to.deep.equal([]);
  });
});

describe('the references of a pipeline', () => {
  const split = { type: 'route', inputs: ['app'], route: { errors: 'true' } };
  const faults = (inputs: string[], transforms: Definition['transforms'] = {}) =>
    checkReferences(
      componentsOf(definition({ sources, transforms, sinks: { out: { type: 'blackhole', inputs } } })),
    );

  const rows: [
    reason: string,
    inputs: string[],
    message: RegExp,
    hint: RegExp,
    transforms?: Definition['transforms'] | undefined,
  ][] = [
    ['is nearly the name of one', ['ap'], /"ap" of "out" matches no component/, /did you mean "app"\?/],
    ['is nothing like any', ['quite_different'], /matches no component/, /there are: app/],
    ['is a sink', ['out'], /matches no component/, /./],
    [
      'is a route without its output',
      ['split'],
      /has only named outputs/,
      /split\.errors, split\._unmatched/,
      { split },
    ],
    [
      'is an output that the route has not',
      ['split.error'],
      /route "split" has no output "error"/,
      /split\.errors/,
      { split },
    ],
    [
      'is an output of one that has no named ones',
      ['app.errors'],
      /file "app" has no output "errors"/,
      /use "app"/,
    ],
    ['is a wildcard that matches nothing', ['z*'], /matches no component/, /./],
  ];
  for (const [reason, inputs, message, hint, transforms] of rows) {
    it(`say what to do where an input ${reason}`, () => {
      const [found, ...more] = faults(inputs, transforms);
      expect(more).to.deep.equal([]);
      expect(found?.pointer).to.equal('/sinks/out/inputs/0');
      expect(found?.message).to.match(message);
      expect(found?.hint).to.match(hint);
    });
  }

  it('refuse an input that stands twice, and one that is the component itself', () => {
    expect(faults(['app', 'app']).map((one) => one.pointer)).to.deep.equal(['/sinks/out/inputs/1']);
    const self = faults(['loop'], { loop: { type: 'remap', inputs: ['app', 'loop'] } });
    expect(self.map((one) => one.message)).to.deep.equal(['"loop" takes its own output as input']);
  });

  it('name the way round a cycle, in the direction of the events', () => {
    const circle = {
      a: { type: 'remap', inputs: ['c', 'app'] },
      b: { type: 'remap', inputs: ['a'] },
      c: { type: 'remap', inputs: ['b'] },
    };
    const [found] = faults(['c'], circle);
    expect(found?.message).to.match(/form a cycle: (a → b → c → a|b → c → a → b|c → a → b → c)$/);
  });

  it('survive a chain of a thousand', () => {
    const transforms = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [
        `t${n}`,
        { type: 'filter', inputs: [n === 0 ? 'app' : `t${n - 1}`] },
      ]),
    );
    expect(faults(['t999'], transforms)).to.deep.equal([]);
  });

  it('are right in every definition that is made to be right', () => {
    fc.assert(
      fc.property(soundDefinition, (made) => {
        expect(checkReferences(componentsOf(made))).to.deep.equal([]);
      }),
    );
  });
});

describe('variables in a pipeline', () => {
  const known = new Set(['SVC_SECRET_API_KEY']);
  const faults = (text: string) =>
    checkVariables(
      definition({ sources, sinks: { out: { type: 'http', inputs: ['app'], auth: { token: text } } } }),
      known,
    );

  const fine = [
    '${SVC_SECRET_API_KEY}',
    '$SVC_SECRET_API_KEY',
    'Bearer ${SVC_SECRET_API_KEY}!',
    '${SVC_SECRET_MISSING:-default}',
    '${SVC_SECRET_MISSING-default}',
    '${REGION:-eu}',
    '${HOSTNAME}',
    'costs 5 $',
    '$$1 and $$name and $${NAME}',
    'a {{ field }} of the event',
  ];
  for (const text of fine) it(`lets ${text} pass`, () => expect(faults(text)).to.deep.equal([]));

  const wrong: [text: string, message: RegExp, hint: RegExp][] = [
    ['$1', /"\$1" would be read as an environment variable/, /write "\$\$1" for a literal dollar/],
    ['${REGION}', /"\$\{REGION\}" would be read/, /write "\$\$\{REGION\}"/],
    [
      '${SVC_SECRET_APIKEY}',
      /secret behind \$\{SVC_SECRET_APIKEY\} does not exist/,
      /did you mean "SVC_SECRET_API_KEY"/,
    ],
    [
      '${SVC_SECRET_QUITE_ANOTHER_ONE}',
      /does not exist/,
      /create a secret whose name becomes SVC_SECRET_QUITE_ANOTHER_ONE \(for example "quite_another_one"/,
    ],
    [
      '${SVC_SECRET_quite_another}',
      /no secret name leads to the variable SVC_SECRET_quite_another/,
      /write \$\{SVC_SECRET_QUITE_ANOTHER\}/,
    ],
    ['${SVC_SECRET_MISSING:?say why}', /does not exist/, /./],
    ['$$$1', /"\$1"/, /./],
  ];
  for (const [text, message, hint] of wrong) {
    it(`refuses ${text} and says what to write`, () => {
      const [found, ...more] = faults(text);
      expect(more).to.deep.equal([]);
      expect(found).to.include({ level: 'secrets', pointer: '/sinks/out/auth/token', componentKey: 'out' });
      expect(found?.message).to.match(message);
      expect(found?.hint).to.match(hint);
    });
  }

  it('names line and column inside a text of several lines', () => {
    expect(faults('a\n  b $1')[0]).to.include({ line: 2, column: 5 });
  });

  it('tells the first fifty, however many a text holds', () => {
    const begin = cpuMs();
    const definition = { ...sound, global: { text: '$a '.repeat(100_000) } };
    expect(checkVariables(definition, new Set())).to.have.length(50);
    expect(cpuMs() - begin).to.be.below(patient(2_000));
  });

  it('looks into global sections too, and escapes the pointer', () => {
    const made = definition({ sources, sinks, global: { 'a/b~c': ['$x'] } });
    expect(checkVariables(made, known)[0]).to.include({ pointer: '/global/a~1b~0c/0' });
  });
});

describe('the programs of a pipeline', () => {
  it('are found wherever an engine takes VRL', () => {
    const made = definition({
      sources: {
        app: {
          type: 'http_client',
          decoding: { codec: 'vrl', vrl: { source: 'd' } },
          query: { since: { type: 'vrl', value: 'q' } },
          auth: { strategy: 'custom', source: 'c' },
        },
      },
      transforms: {
        parse: { type: 'remap', inputs: ['app'], source: 'r' },
        keep: { type: 'filter', inputs: ['app'], condition: 'f' },
        keep2: { type: 'filter', inputs: ['app'], condition: { type: 'vrl', source: 'v' } },
        keep3: { type: 'filter', inputs: ['app'], condition: { type: 'is_log' } },
        split: { type: 'route', inputs: ['app'], route: { a: 'ra', b: { type: 'vrl', source: 'rb' } } },
        only: { type: 'exclusive_route', inputs: ['app'], routes: [{ name: 'x', condition: 'ex' }] },
        file: { type: 'remap', inputs: ['app'], file: 'elsewhere.vrl' },
        joined: {
          type: 'reduce',
          inputs: ['app'],
          starts_when: 's',
          ends_when: { type: 'vrl', source: 'e' },
        },
        some: { type: 'sample', inputs: ['app'], rate: 2, exclude: 'x' },
        window: { type: 'window', inputs: ['app'], flush_when: 'w' },
      },
      sinks,
    });
    expect(
      programsOf(componentsOf(made)).map(({ pointer, source, purpose }) => [pointer, source, purpose]),
    ).to.deep.equal([
      ['/sources/app/decoding/vrl/source', 'd', 'program'],
      ['/sources/app/query/since/value', 'q', 'program'],
      ['/sources/app/auth/source', 'c', 'condition'],
      ['/transforms/parse/source', 'r', 'program'],
      ['/transforms/keep/condition', 'f', 'condition'],
      ['/transforms/keep2/condition/source', 'v', 'condition'],
      ['/transforms/split/route/a', 'ra', 'condition'],
      ['/transforms/split/route/b/source', 'rb', 'condition'],
      ['/transforms/only/routes/0/condition', 'ex', 'condition'],
      ['/transforms/joined/starts_when', 's', 'condition'],
      ['/transforms/joined/ends_when/source', 'e', 'condition'],
      ['/transforms/some/exclude', 'x', 'condition'],
      ['/transforms/window/flush_when', 'w', 'condition'],
    ]);
  });

  it('are looked for in options of any shape, and their places are escaped', () => {
    for (const routes of ['x', 7, null, [null], [5, 'x'], { a: 1 }, [{ condition: [] }]]) {
      const transforms = { only: { type: 'exclusive_route', inputs: ['app'], routes } };
      expect(programsOf(componentsOf(definition({ sources, transforms, sinks })))).to.deep.equal([]);
    }
    const transforms = { split: { type: 'route', inputs: ['app'], route: { 'a/b': 'ra' } } };
    const [program] = programsOf(componentsOf(definition({ sources, transforms, sinks })));
    expect(program?.pointer).to.equal('/transforms/split/route/a~1b');
  });
});

describe('the levels of a check', () => {
  interface Asked {
    programs: number;
    configs: number;
  }
  const engineOf = (asked: Asked, results: ProgramResult[], validation: EngineValidation): EngineChecks => ({
    vrlName: 'the compiler',
    compilePrograms: async (programs) => {
      asked.programs += programs.length;
      return programs.map((_, index) => results[index] ?? { errors: [], unknown: [] });
    },
    validateConfig: async () => {
      asked.configs += 1;
      return validation;
    },
    optionSchema: async () => null,
    testTransforms: async () => [],
    knowsType: async () => true,
    prepare: () => {},
    stop: async () => {},
  });
  const passed: EngineValidation = { status: 'checked', checker: 'engine 1.0', errors: [], unknown: [] };
  const check = async (
    of: Definition,
    given: {
      programs?: ProgramResult[];
      validation?: EngineValidation;
      options?: Partial<CheckOptions>;
    } = {},
  ) => {
    const asked: Asked = { programs: 0, configs: 0 };
    const report = await checkPipeline(of, {
      secrets: new Set(),
      engine: engineOf(asked, given.programs ?? [], given.validation ?? passed),
      engineLevel: { configYaml: 'the config' },
      nodeEngines: [],
      ...given.options,
    });
    return { asked, report, levels: report.levels.map(({ level, status }) => `${level} ${status}`) };
  };
  const withProgram = definition({
    sources,
    transforms: { parse: { type: 'remap', inputs: ['app'], source: '.x = ' } },
    sinks: { out: { type: 'blackhole', inputs: ['parse'] } },
  });

  it('all run where nothing is wrong', async () => {
    expect((await check(sound)).levels).to.deep.equal([
      'structure passed',
      'references passed',
      'secrets passed',
      'options skipped',
      'vrl passed',
      'engine passed',
    ]);
  });

  it('stop at the first that fails: neither compiler nor engine is asked about a graph that is wrong', async () => {
    const { asked, levels } = await check(
      definition({ sources, sinks: { out: { type: 'blackhole', inputs: ['nope'] } } }),
    );
    expect(levels).to.deep.equal([
      'structure passed',
      'references failed',
      'secrets skipped',
      'options skipped',
      'vrl skipped',
      'engine skipped',
    ]);
    expect(asked).to.deep.equal({ programs: 0, configs: 0 });
  });

  it('place an error of a program in its text', async () => {
    const errors = [{ message: 'syntax error', line: 1, column: 6, hint: 'finish it' }];
    const { report, asked } = await check(withProgram, { programs: [{ errors, unknown: [] }] });
    expect(report.findings).to.deep.equal([
      {
        level: 'vrl',
        pointer: '/transforms/parse/source',
        componentKey: 'parse',
        line: 1,
        column: 6,
        message: 'VRL in "parse" does not compile: syntax error',
        hint: 'finish it',
      },
    ]);
    expect(asked.configs).to.equal(0);
  });

  it('take what a checker does not know as unknown, with its name, and as no fault', async () => {
    const { report } = await check(withProgram, {
      programs: [{ errors: [], unknown: ['the function lookup'] }],
      validation: { ...passed, unknown: ['the component type kafka of "out"'] },
    });
    expect(report.findings).to.deep.equal([]);
    expect(report.unknown).to.deep.equal([
      'the function lookup (unknown to the compiler)',
      'the component type kafka of "out" (unknown to engine 1.0)',
    ]);
  });

  it('place what the engine refuses at the component, or at the whole where it names none', async () => {
    const errors = [
      { message: 'bad codec', componentKey: 'out' },
      { message: 'bad config', componentKey: null },
      { message: 'bad other', componentKey: 'not here' },
    ];
    const { report } = await check(sound, { validation: { ...passed, errors } });
    expect(report.findings.map((one) => one.pointer)).to.deep.equal(['/sinks/out', '', '']);
    expect(report.findings[0]?.message).to.equal('engine 1.0 refuses the config: bad codec');
  });

  it('say that the engine was not asked, and why, and pass', async () => {
    const absent = await check(sound, { validation: { status: 'unavailable', detail: 'no engine here' } });
    const many = await check(sound, { options: { engineLevel: { skip: 'too many' } } });
    expect(absent.report.levels.at(-1)).to.deep.equal({
      level: 'engine',
      status: 'skipped',
      detail: 'no engine here',
    });
    expect(many.report.levels.at(-1)).to.deep.equal({
      level: 'engine',
      status: 'skipped',
      detail: 'too many',
    });
    expect(many.asked.configs).to.equal(0);
  });
});
