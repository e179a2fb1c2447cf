/** ai.*Provider and completions: real clients of both vendors against a provider that answers by script. */
import { expect } from 'chai';
import { findAssistant } from '../../../controller/pipelines/assistant/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import type { AiProviderTest, AiUsage } from '../../../schemas/api/pipelines/assistant.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { use } from '../../support/harness/use.ts';
import { ScriptedProvider } from '../../support/servers/scripted-provider.ts';
import { refusalOf } from '../../support/users/person.ts';

const KEY = 'sk-the-key-of-the-team';

describe('AI providers', function () {
  this.timeout(60_000);
  const test = useController();
  const root = useRoot(test);
  const provider = use(
    () => ScriptedProvider.start(),
    (one) => one.close(),
  );
  let teamId = '';

  before(async () => {
    teamId = (await root.mutate<{ id: string }>('team.create', { name: 'assisted' })).id;
  });
  beforeEach(async () => {
    provider.reset();
    await test.db('ai_requests').delete();
    await test.db('ai_providers').delete();
  });

  const set = (kind: 'openai' | 'anthropic', more: object = {}) =>
    root.mutate('ai.updateProvider', {
      ...{ teamId, kind, model: 'scripted', apiKey: KEY },
      baseUrl: kind === 'openai' ? provider.openAiUrl : provider.origin,
      ...more,
    });
  const usage = () => root.query<AiUsage>('ai.usage', { teamId });
  const faultOf = async (input: object) =>
    refusalOf(await root.call('mutation', 'ai.updateProvider', { teamId, model: 'm', ...input }));

  async function complete(
    more: Partial<Context> = {},
    maxTokens = 1_000,
    signal = new AbortController().signal,
  ) {
    const ctx = { ...test.controller.systemContext('test'), ...more };
    const assistant = await findAssistant(ctx, teamId);
    if (!assistant) throw new Error('there is no provider');
    return assistant.complete({
      purpose: 'migration',
      system: 'Be brief.',
      prompt: 'Say hello',
      maxTokens,
      signal,
    });
  }
  const failure = (work: Promise<unknown>): Promise<{ code?: string; message: string }> =>
    work.then(
      () => ({ message: 'it went well' }),
      (error) => error,
    );

  for (const kind of ['openai', 'anthropic'] as const) {
    it(`answer over the wire of ${kind}, with the key and the count of tokens`, async () => {
      await set(kind);
      provider.script([{ text: 'Hello from the script' }, { usage: { input: 21, output: 7 } }]);
      expect(await complete()).to.equal('Hello from the script');
      const { headers, body, text } = provider.last;
      expect(headers.authorization).to.equal(`Bearer ${KEY}`);
      expect(body).to.deep.include({ model: 'scripted', max_tokens: 1_000, stream: true });
      expect(text).to.equal('Be brief.\nSay hello');
      expect((await usage()).day.used).to.equal(28);
    });

    it(`explain what fails at ${kind}`, async () => {
      await set(kind);
      for (const [step, code, words] of [
        [{ status: 401 }, 'UNAVAILABLE', /does not accept the API key/],
        [{ status: 404, message: 'no model scripted' }, 'UNAVAILABLE', /no model scripted/],
        [{ status: 429, headers: { 'retry-after': '77' } }, 'TOO_MANY_REQUESTS', /try again in 77 s/],
        [{ status: 400, message: `bad ${KEY}` }, 'UNAVAILABLE', /bad …/],
        [
          { raw: 'event: message_delta\ndata: {nonsense\n\n' },
          'UNAVAILABLE',
          /a form that Headgate does not understand/,
        ],
        [{ cut: 'length' }, 'UNAVAILABLE', /longer than the 1000 tokens/],
      ] as const) {
        provider.script([step]);
        const fault = await failure(complete());
        expect(fault.code, fault.message).to.equal(code);
        expect(fault.message).to.match(words).and.not.include(KEY);
      }
      expect(test.log()).to.not.include(KEY);
    });
  }

  it('are stored with a sealed key that nothing returns, and tested by a real question', async () => {
    await set('openai');
    const [row] = await test.db('ai_providers').select('sealed_api_key');
    expect(row?.sealed_api_key).to.match(/^v1\./);
    const { provider: shown } = await root.query<{ provider: object }>('ai.getProvider', { teamId });
    expect(shown).to.deep.include({ hasApiKey: true, requestsPerUserPerHour: 60, timeoutSeconds: 60 });
    expect(JSON.stringify(shown)).to.not.include(KEY);
    const rows = await test.db('audit_log').where({ action: 'ai.providerUpdated' });
    expect(JSON.stringify(rows)).to.include('apiKeyChanged').and.not.include(KEY);
    expect(await root.mutate<AiProviderTest>('ai.testProvider', { teamId })).to.include({
      ok: true,
      message: 'The model scripted answered',
    });
    provider.script([{ status: 401 }]);
    expect((await root.mutate<AiProviderTest>('ai.testProvider', { teamId })).ok).to.equal(false);
    await root.mutate('ai.deleteProvider', { teamId });
    expect(await root.query('ai.getProvider', { teamId })).to.deep.equal({ provider: null });
  });

  it('keep their key from another address, and go to no private one that is not listed', async () => {
    await set('openai');
    expect(await faultOf({ kind: 'openai', baseUrl: 'https://api.example.com/v1' })).to.match(
      /BAD_REQUEST: apiKey: the stored key was given for another address/,
    );
    expect(await faultOf({ kind: 'openai', apiKey: null })).to.match(/api\.openai\.com needs a key/);
    expect(await faultOf({ kind: 'openai', baseUrl: 'http://10.0.0.1:11434/v1', apiKey: null })).to.match(
      /baseUrl: .*HEADGATE_PRIVATE_TARGETS/,
    );
    // The same address, so the key stays.
    await set('openai', { apiKey: undefined, model: 'another' });
    expect((await test.db('ai_providers').first())?.sealed_api_key).to.match(/^v1\./);
  });

  it('are asked within the limits of the user and the budget of the team', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 31, 23, 30));
    await set('openai', { requestsPerUserPerHour: 2, tokensPerDay: 2_000, tokensPerMonth: 3_000 });
    provider.fallback = [{ text: 'hi' }, { usage: { input: 500, output: 400 } }];
    await complete({ clock });
    clock.advance(60_000);
    // What is left is less than what was asked for.
    await complete({ clock }, 5_000);
    expect(Number(provider.last.body.max_tokens)).to.be.within(1_000, 1_100);
    const often = await failure(complete({ clock }));
    expect(often).to.include({ code: 'TOO_MANY_REQUESTS' });
    expect(often.message).to.include('asked 2 times in the last hour').and.include('2026-02-01 00:30 UTC');
    await test.db('ai_providers').update({ requests_per_user_per_hour: 100 });
    const spent = await failure(complete({ clock }));
    expect(spent.message)
      .to.include('200 of its 2,000 tokens of this day')
      .and.include('2026-02-01 00:00 UTC');
    clock.advance(3_600_000);
    await complete({ clock });
    expect(await test.db('ai_requests').whereNull('finished_at')).to.deep.equal([]);
    provider.fallback = [{ text: 'ready' }];
  });

  it('are given up where they are silent, and left at once where the caller goes', async () => {
    const clock = manualClock();
    await set('openai', { timeoutSeconds: 5 });
    provider.script([{ text: 'be' }, { stall: true }], [{ text: 'be' }, { stall: true }]);
    const silent = failure(complete({ clock }));
    await until(() => provider.requests.length === 1, { what: 'the request' });
    await until(
      () => {
        clock.advance(1_000);
        return provider.last.isClosedEarly;
      },
      { what: 'the end of the connection' },
    );
    expect((await silent).message).to.include('has sent nothing for 5 s');
    const leaving = new AbortController();
    const left = failure(complete({}, 100, leaving.signal));
    await until(() => provider.requests.length === 2, { what: 'the request' });
    leaving.abort(new Error('the caller has left'));
    expect((await left).message).to.equal('the caller has left');
    await until(() => provider.last.isClosedEarly, { what: 'the end of the connection' });
  });
});
