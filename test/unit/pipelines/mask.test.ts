import { expect } from 'chai';
import { maskSensitive, maskYaml } from '../../../controller/pipelines/mask.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: as the engine's config has it
const PLACEHOLDER = '${SVC_SECRET_api}';
const CONFIG = `sinks:
  out:
    type: http
    uri: https://logs.example.com # where it goes
    auth: { strategy: basic, user: shop, password: hunter2 }
    request:
      headers:
        Authorization: Bearer abcdef
        X-Api-Key: "\${SVC_SECRET_api}"
    token: [one, two]
`;

describe('a config for those who may only read', () => {
  it('has its credentials blanked, and nothing else changed', () => {
    const { sinks } = maskSensitive({
      sinks: {
        out: {
          user: 'shop',
          password: 'hunter2',
          tokens: ['one', 'two'],
          batch: { secret_count: 3 },
          'X-Api-Key': PLACEHOLDER,
        },
      },
    }) as { sinks: { out: unknown } };
    expect(sinks.out).to.deep.equal({
      user: 'shop',
      password: '••••••',
      tokens: ['••••••', '••••••'],
      batch: { secret_count: 3 },
      'X-Api-Key': PLACEHOLDER,
    });
  });

  it('has them blanked in YAML too, in lists as well, and keeps names of secrets and comments', () => {
    const masked = maskYaml(CONFIG);
    for (const value of ['hunter2', 'abcdef', 'one', 'two']) expect(masked).not.to.include(value);
    expect(masked).to.include('# where it goes');
    expect(masked).to.include(PLACEHOLDER);
    expect(masked).to.include('user: shop');
    expect(masked.match(/••••••/g)).to.have.length(4);
  });

  it('is the text as it was written where there is nothing to blank', () => {
    const text = 'sources:\n    in: {type: stdin}   # odd spacing\n';
    expect(maskYaml(text)).to.equal(text);
  });
});
