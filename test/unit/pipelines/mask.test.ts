import { expect } from 'chai';
import { maskSensitive, maskSensitiveIn, maskYaml } from '../../../controller/pipelines/definition/mask.ts';

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
    endpoints: ["https://shop:swordfish@db:9200", "https://shop:\${SVC_SECRET_api}@db:9200"]
    password_file: /run/x
    key_pass: 12345
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
          'DD-API-KEY': 'abc',
          license_key: 'abc',
          pwd: 5,
        },
      },
    }) as { sinks: { out: unknown } };
    expect(sinks.out).to.deep.equal({
      user: 'shop',
      password: '••••••',
      tokens: ['••••••', '••••••'],
      batch: { secret_count: 3 },
      'X-Api-Key': PLACEHOLDER,
      'DD-API-KEY': '••••••',
      license_key: '••••••',
      pwd: '••••••',
    });
  });

  it('has them blanked in YAML too, in lists as well, and keeps names of secrets and comments', () => {
    const masked = maskYaml(CONFIG);
    for (const value of ['hunter2', 'abcdef', 'one', 'two', 'swordfish', '12345'])
      expect(masked).not.to.include(value);
    expect(masked).to.include('# where it goes');
    expect(masked).to.include(PLACEHOLDER);
    expect(masked).to.include('user: shop');
    expect(masked).to.include('password_file: /run/x');
    expect(masked.match(/••••••/g)).to.have.length(6);
  });

  it('is not quoted in what a checker says of it', () => {
    const config = [{ config: { auth: { password: 12345678, user: 'shop' }, tokens: ['abcdef', 'x'] } }];
    expect(
      maskSensitiveIn(config, 'invalid type: integer `12345678` of shop, abcdef, x is no text'),
    ).to.equal('invalid type: integer `••••••` of shop, ••••••, x is no text');
  });

  it('is the text as it was written where there is nothing to blank', () => {
    const text = 'sources:\n    in: {type: stdin}   # odd spacing\n';
    expect(maskYaml(text)).to.equal(text);
  });
});
