import { expect } from 'chai';
import { explainUntagged } from '../../../controller/pipelines/engine/schema/explain-untagged.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    uri: { type: 'string' },
    buffer: {
      oneOf: [
        {
          type: 'object',
          required: ['type', 'max_size'],
          properties: { type: { enum: ['disk'] }, max_size: { type: 'integer' } },
        },
        { type: 'array' },
      ],
    },
    request: {
      type: 'object',
      properties: { concurrency: { oneOf: [{ enum: ['adaptive', 'none'] }, { type: 'integer' }] } },
    },
  },
};
const SAID = 'data did not match any variant of untagged enum BufferConfig in `sinks.out`';

describe('an option that has none of its shapes', () => {
  it('is named with what it may look like', () => {
    expect(
      explainUntagged(SAID, 'sinks.out', { uri: 'x', buffer: { type: 'disc', max_size: 1 } }, SCHEMA),
    ).to.equal(
      'option `buffer` of `sinks.out` has none of the allowed shapes: object with `type`, `max_size`, or array',
    );
  });

  it('is found inside of other options', () => {
    const config = { buffer: { type: 'disk', max_size: 1 }, request: { concurrency: 'fast' } };
    expect(explainUntagged(SAID, 'sinks.out', config, SCHEMA)).to.equal(
      'option `request.concurrency` of `sinks.out` has none of the allowed shapes: `adaptive` or `none`, or integer',
    );
  });

  it('is left to the engine where two could be meant, none is wrong, or something else is', () => {
    const two = { buffer: 7, request: { concurrency: 'fast' } };
    expect(explainUntagged(SAID, 'sinks.out', two, SCHEMA)).to.equal(SAID);
    expect(explainUntagged(SAID, 'sinks.out', { buffer: [] }, SCHEMA)).to.equal(SAID);
    expect(explainUntagged('unknown field', 'sinks.out', { buffer: 7 }, SCHEMA)).to.equal('unknown field');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the engine
    expect(explainUntagged(SAID, 'sinks.out', { buffer: '${SVC_SECRET_X}' }, SCHEMA)).to.equal(SAID);
  });
});
