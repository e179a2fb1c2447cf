import { expect } from 'chai';
import fc from 'fast-check';
import {
  MalformedAnswer,
  parseConfig,
  parseEnrollment,
  parseHeartbeatReply,
} from '../../../agent/link/answers.ts';
import { parsePushMessage } from '../../../agent/link/push-message.ts';
import { ConfigResponse } from '../../../schemas/agent/protocol.ts';
import { validator } from '../../../schemas/validate.ts';

const entry = {
  pipelineId: 'p1',
  pipelineName: 'One',
  version: 3,
  configYaml: 'sources: {}',
  checksum: 'sha256:00',
  logLevel: 'info',
  secrets: { SVC_SECRET_A: 'x' },
  certFiles: [{ name: 'c', filename: 'c.pem', data: 'cGVt' }],
};
const config = {
  pipelines: [entry],
  pollIntervalMs: 5000,
  secretBackend: 'BUILTIN',
  sampleRequests: [],
  pendingAction: null,
  configRevision: 4,
  pushUrl: 'http://c/push',
};

describe('answers of the controller', () => {
  it('takes a well-formed config as it is', () => {
    expect(parseConfig(JSON.stringify(config))).to.deep.equal(config);
  });

  it('ignores fields and actions that it does not know', () => {
    const newer = {
      ...config,
      extra: 1,
      pendingAction: { type: 'dance' },
      pipelines: [{ ...entry, extra: [] }],
    };
    expect(parseConfig(JSON.stringify(newer))).to.deep.equal(config);
  });

  it('takes a config without its optional parts', () => {
    const { logLevel: _, secrets: __, certFiles: ___, ...bare } = entry;
    const parsed = parseConfig(JSON.stringify({ pipelines: [bare] }));
    expect(parsed).to.deep.equal({
      pipelines: [{ ...bare, logLevel: 'info', secrets: {}, certFiles: [] }],
      pollIntervalMs: undefined,
      secretBackend: '',
      sampleRequests: [],
      pendingAction: null,
      configRevision: undefined,
      pushUrl: undefined,
    });
    const nulls = { ...bare, logLevel: null, secrets: null, certFiles: null };
    const answer = { pipelines: [nulls], pollIntervalMs: null, sampleRequests: null, secretBackend: null };
    expect(parseConfig(JSON.stringify(answer))).to.deep.equal(parsed);
  });

  it('refuses optional parts of another type, and an answer without a list of pipelines', () => {
    for (const fields of [{ pollIntervalMs: '5000' }, { sampleRequests: {} }, { pipelines: null }])
      expect(() => parseConfig(JSON.stringify({ ...config, ...fields }))).to.throw(MalformedAnswer);
    for (const text of ['{}', 'null', '[]', '', '<html>', '{"ok":true}', '{"pollIntervalMs":5000}'])
      expect(() => parseConfig(text), text).to.throw(MalformedAnswer);
  });

  it('counts a heartbeat as delivered when the answer says ok or says nothing', () => {
    for (const text of ['{"ok":true}', '', '  ', '{"ok":true,"configRevision":null}'])
      expect(parseHeartbeatReply(text), text).to.deep.equal({ ok: true });
    expect(parseHeartbeatReply('{"ok":true,"configRevision":4}')).to.deep.equal({
      ok: true,
      configRevision: 4,
    });
    for (const text of ['{}', 'null', '[]', '<html>', '{"ok":false}', '{"ok":"true"}', '{"ok":tr'])
      expect(() => parseHeartbeatReply(text), text).to.throw(MalformedAnswer);
  });

  const OPTIONAL = ['logLevel', 'secrets', 'certFiles'];
  for (const field of Object.keys(entry)) {
    const wrong = OPTIONAL.includes(field) ? [1.5, true] : [undefined, null, 1.5, true];
    it(`refuses an entry whose ${field} is of another type${wrong.length > 2 ? ' or missing' : ''}`, () => {
      for (const value of wrong) {
        const answer = JSON.stringify({ ...config, pipelines: [{ ...entry, [field]: value }] });
        expect(() => parseConfig(answer)).to.throw(MalformedAnswer, field);
      }
    });
  }

  it('accepts nothing that the schema of the protocol refuses', () => {
    const fits = validator(ConfigResponse);
    const wild = fc.oneof(fc.jsonValue(), fc.constant(undefined));
    const answers = fc
      .record({
        pipelines: wild,
        pollIntervalMs: wild,
        secretBackend: wild,
        sampleRequests: wild,
        pendingAction: wild,
      })
      .map((parts) => ({ ...config, ...parts }));
    fc.assert(
      fc.property(answers, (answer) => {
        try {
          return fits.fits(JSON.parse(JSON.stringify(parseConfig(JSON.stringify(answer)))));
        } catch (error) {
          return error instanceof MalformedAnswer;
        }
      }),
    );
  });

  it('throws nothing but MalformedAnswer on any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        for (const parse of [parseConfig, parseEnrollment, parseHeartbeatReply]) {
          try {
            parse(text);
          } catch (error) {
            if (!(error instanceof MalformedAnswer)) return false;
          }
        }
        return true;
      }),
    );
  });

  it('refuses a node token that would not fit a header', () => {
    const answer = { nodeId: 'n', nodeToken: 'a b\r\nx', environmentId: 'e', environmentName: 'E' };
    expect(() => parseEnrollment(JSON.stringify(answer))).to.throw(MalformedAnswer, 'nodeToken');
  });

  it('ignores push messages that are unknown or broken', () => {
    for (const data of [
      '',
      '{',
      'null',
      '[]',
      '{"type":"tap_start"}',
      '{"type":"poll_interval","intervalMs":"1"}',
    ]) {
      expect(parsePushMessage(data), data).to.equal(undefined);
    }
    expect(parsePushMessage('{"type":"poll_interval","intervalMs":900}')).to.deep.equal({
      type: 'poll_interval',
      intervalMs: 900,
    });
  });
});
