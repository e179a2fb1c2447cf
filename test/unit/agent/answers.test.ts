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

  for (const field of Object.keys(entry)) {
    it(`refuses an entry whose ${field} is missing or of another type`, () => {
      for (const value of [undefined, null, 1.5, true]) {
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
