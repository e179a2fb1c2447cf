// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as they are written in manifests
import { expect } from 'chai';
import { checkPipeline } from '../../../controller/pipelines/definition/checks/check-pipeline.ts';
import { checkSecretPositions } from '../../../controller/pipelines/definition/checks/check-variables.ts';
import {
  escapeSecretsInVrl,
  vrlPlaceholders,
} from '../../../controller/pipelines/definition/vrl-placeholders.ts';
import { definition } from '../../support/fixtures/definition.ts';

const placesIn = (source: string) => vrlPlaceholders(source).map(({ place }) => place);

describe('a placeholder in a VRL program', () => {
  for (const [source, place] of [
    ['.a = "${SVC_SECRET_X}"', 'text'],
    ['.a = "x \\" ${SVC_SECRET_X}"', 'text'],
    ['.a = "\\\\" + "${SVC_SECRET_X}"', 'text'],
    ['.a = s\'"\' + "$SVC_SECRET_X"', 'text'],
    ['# it\'s "\n.a = "${SVC_SECRET_X}"', 'text'],
    ['.a = "\\{{ ${SVC_SECRET_X}"', 'text'],
    ['.a = "{{ b }} ${SVC_SECRET_X}"', 'text'],
    ['.a = 1 # ${SVC_SECRET_X}', 'comment'],
    ['.a = ${SVC_SECRET_X}', 'code'],
    ['.a = "" + $SVC_SECRET_X', 'code'],
    ['# ends \\\n${SVC_SECRET_X}', 'code'],
    ['# ${HOSTNAME:-\n} ${SVC_SECRET_X}', 'code'],
    ['.a = "\\"" + ${SVC_SECRET_X}', 'code'],
    [".a = s'${SVC_SECRET_X}'", 'raw'],
    [".a = match(.b, r'it\\'s ${SVC_SECRET_X}')", 'regex'],
    [".a = t'${SVC_SECRET_X}'", 'time'],
    ['.a = "{{ ${SVC_SECRET_X} }}"', 'template'],
    ['."${SVC_SECRET_X}" = 1', 'field'],
    ['.a = "\\${SVC_SECRET_X}"', 'escaped'],
  ] as const)
    it(`stands in ${place}: ${JSON.stringify(source)}`, () =>
      expect(placesIn(source)).to.deep.equal([place]));

  it('is none behind a dollar, of another variable, or of another name', () => {
    expect(placesIn('.a = "$${SVC_SECRET_X}" + ${HOSTNAME} + $SVC_SECRET_X.y')).to.deep.equal([]);
  });

  it('gets the form for VRL in strings and comments, with its default, and nowhere else', () => {
    expect(
      escapeSecretsInVrl('.a = "$SVC_SECRET_X ${SVC_SECRET_Y:-d}" + ${SVC_SECRET_Z} # ${SVC_SECRET_X}'),
    ).to.equal(
      '.a = "${SVC_SECRET_X__VRL} ${SVC_SECRET_Y__VRL:-d}" + ${SVC_SECRET_Z} # ${SVC_SECRET_X__VRL}',
    );
  });
});

describe('a secret in a pipeline', () => {
  const findings = (transform: Record<string, unknown>, sink: Record<string, unknown> = {}, source = {}) =>
    checkSecretPositions(
      definition({
        sources: { in: { type: 'demo_logs', ...source } },
        transforms: { t: { inputs: ['in'], ...transform } as never },
        sinks: { out: { type: 'blackhole', inputs: ['t'], ...sink } },
      }),
    );
  const code = '.a == ${SVC_SECRET_X}';

  for (const [what, transform, pointer] of [
    ['a program', { type: 'remap', source: code }, '/transforms/t/source'],
    ['a condition', { type: 'filter', condition: code }, '/transforms/t/condition'],
    [
      'a condition with its type',
      { type: 'filter', condition: { type: 'vrl', source: code } },
      '/transforms/t/condition/source',
    ],
    ['a route', { type: 'route', route: { 'a/b': code } }, '/transforms/t/route/a~1b'],
    [
      'an exclusive route',
      { type: 'exclusive_route', routes: [{ name: 'x', condition: code }] },
      '/transforms/t/routes/0/condition',
    ],
    ['what is not sampled', { type: 'sample', rate: 2, exclude: code }, '/transforms/t/exclude'],
    ['what is not throttled', { type: 'throttle', exclude: code }, '/transforms/t/exclude'],
    ['an end of what is reduced', { type: 'reduce', ends_when: code }, '/transforms/t/ends_when'],
    ['a flush of a window', { type: 'window', flush_when: code }, '/transforms/t/flush_when'],
  ] as const)
    it(`is refused as code in ${what}, at its place`, () => {
      const [finding, ...more] = findings(transform);
      expect(more).to.deep.equal([]);
      expect(finding).to.include({ level: 'secrets', pointer, line: 1, column: 7, componentKey: 't' });
      expect(finding?.message).to.equal(
        '${SVC_SECRET_X} is outside of a string, so its value would be run as VRL',
      );
      expect(finding?.hint).to.include('"${SVC_SECRET_X}"');
    });

  for (const [what, source] of [
    ['a decoder', { decoding: { codec: 'vrl', vrl: { source: code } } }],
    ['custom sign-in', { auth: { strategy: 'custom', source: code } }],
    ['a parameter of a query', { query: { q: { type: 'vrl', value: code } } }],
  ] as const)
    it(`is refused as code in ${what} of a source`, () =>
      expect(findings({ type: 'remap', source: '.' }, {}, source)).to.have.length(1));

  it('is refused in a default that would end the string', () => {
    expect(findings({ type: 'remap', source: '.a = "${SVC_SECRET_X:-a"b}"' })[0]?.message).to.include(
      'default',
    );
    expect(findings({ type: 'remap', source: '.a = "${SVC_SECRET_X:-ab}"' })).to.deep.equal([]);
  });

  it('is refused in a key', () => {
    const [finding] = findings({ type: 'remap', source: '.' }, { headers: { '${SVC_SECRET_X}': 'a' } });
    expect(finding).to.include({ pointer: '/sinks/out/headers', componentKey: 'out' });
  });

  it('is taken in any other option, and in a string of VRL', () => {
    const fine = findings(
      { type: 'remap', source: '.a = "${SVC_SECRET_X}" # ${SVC_SECRET_X}' },
      { source: code, token: '${SVC_SECRET_X}' },
    );
    expect(fine).to.deep.equal([]);
  });

  it('is checked with the other places of secrets, before any program is compiled', async () => {
    const made = definition({
      sources: { in: { type: 'demo_logs' } },
      transforms: { t: { type: 'remap', inputs: ['in'], source: '.a = ${SVC_SECRET_X}' } },
      sinks: { out: { type: 'blackhole', inputs: ['t'] } },
    });
    const { findings: found } = await checkPipeline(made, {
      secrets: new Set(['SVC_SECRET_X']),
      engine: null as never,
      engineLevel: { skip: 'not asked' },
      nodeEngines: [],
    });
    expect(found.map(({ message }) => message)).to.deep.equal([
      '${SVC_SECRET_X} is outside of a string, so its value would be run as VRL',
    ]);
  });
});
