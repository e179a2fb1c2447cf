// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables are what is tested here
/** What of the tests of transforms an engine on the controller is given, and what not. */
import { expect } from 'chai';
import {
  engineConfig,
  reasonNotToRun,
} from '../../../controller/pipelines/engine/transform-tests/engine-config.ts';
import type { TransformCase } from '../../../controller/pipelines/engine/transform-tests/test-case.ts';
import { interpolate } from '../../../examples/engine/config/interpolate.ts';

const caseOf = (source: string, more: Partial<TransformCase> = {}): TransformCase => ({
  ...{ key: 'a', type: 'remap', port: null, events: [{}], expect: 'true' },
  ...{ options: { source }, ...more },
});
const VARIABLE = 'it takes a variable with a default, or of the node';
/** What the engine would read. */
const read = (one: TransformCase, global: Record<string, unknown> = {}) =>
  interpolate(engineConfig('asked', new Map([[0, one]]), global), {});

describe('what of a test the engine of the controller is not asked', () => {
  const ASKING = `.a = s'\${X:-x'; .b = http_}request!("http://169.254.169.254/"); # '`;

  for (const [source, reason] of [
    [ASKING, 'a default that ends a text and makes a name of two halves'],
    ['.a = "${SVC_SECRET_A:-x}"', 'a default of a secret'],
    ['.a = "${SVC_CERT_DIR:-x}"', 'a default of the folder of certificates'],
    [`.a = "\${SVC_SECRET_A:-${'x'.repeat(2_000)}}"`, 'one that is too long to be replaced'],
    ['.a = "${HOSTNAME}"', 'a variable of the node'],
    ['.a = "$HOSTNAME"', 'a bare one'],
    ['.a = "$SVC_SECRET_A.b"', 'a bare one whose name goes on after a dot'],
    ['.a = "$$$HOSTNAME"', 'one behind a dollar'],
    ['.a = "$$${X:-b}"', 'a default behind a dollar'],
    ['.a = "${X?no}"', 'one that must be there'],
  ] as const) {
    it(`is ${reason}`, () => expect(reasonNotToRun(caseOf(source), {})).to.equal(VARIABLE));
  }

  for (const [source, word] of [
    [`. = validate_json_schema!(.a, "/etc/passwd")`, 'validate_json_schema'],
    [`. = parse_proto!(.a, "/etc/passwd", "x")`, 'parse_proto'],
    [`. = parse_groks!(.a, ["%{x}"], alias_sources: ["/etc/passwd"])`, 'alias_sources'],
  ] as const) {
    it(`is ${word}, which reads a file`, () =>
      expect(reasonNotToRun(caseOf(source), {})).to.equal(`${word} would read a file of the controller`));
  }

  it('would otherwise call what nobody looked for', () => {
    expect(read(caseOf(ASKING))).to.match(/http_request!/);
  });

  it('is a default in what stands around the transform', () => {
    const global = { log_schema: { message_key: '${X:-a}' } };
    expect(reasonNotToRun(caseOf('.a = 1'), global)).to.equal(VARIABLE);
    expect(reasonNotToRun(caseOf('.a = 1', { options: { '${X:-a}': 1 } }), {})).to.equal(VARIABLE);
    expect(reasonNotToRun(caseOf('.a = 1'), { data_dir: '${DATA:-/tmp}' }), 'what it is not given').to.equal(
      null,
    );
  });

  for (const source of [
    '.a = "${SVC_SECRET_A} $SVC_SECRET_A, ${SVC_CERT_DIR}/ca.pem $SVC_CERT_DIR"',
    '.a = "$$5 $${X:-a} $$$$NAME $ 5"',
    `.a = replace(.a, r'^(.*)$', "$$1")`,
  ]) {
    it(`is not ${source}`, () => {
      expect(reasonNotToRun(caseOf(source, { expect: '.a == "${X:-a} $NAME"' }), {})).to.equal(null);
      expect(() => read(caseOf(source))).not.to.throw();
    });
  }
});
