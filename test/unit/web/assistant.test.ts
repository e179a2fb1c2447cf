/** The panel of the assistant without its page: the stream, the addresses of conversations, and what went wrong in words. */
import { expect } from 'chai';
import fc from 'fast-check';
import { describeProblem } from '../../../web/src/features/assistant/assistant-text.ts';
import { ChatError, createEventParser } from '../../../web/src/features/assistant/chat-stream.ts';
import { applyProgram } from '../../../web/src/features/pipeline-editor/apply-program.ts';
import type { EditorGraph } from '../../../web/src/features/pipeline-editor/model/graph.ts';
import { draftOf, inputOf } from '../../../web/src/features/settings/assistant/provider-draft.ts';

describe('the stream of an answer', () => {
  const events = [
    { type: 'start', data: { conversationId: 'c', messageId: 'm', userMessageId: 'u' } },
    { type: 'delta', data: { text: 'Grüße\n\ndata: not an event' } },
    { type: 'usage', data: { inputTokens: 1, outputTokens: 2 } },
    { type: 'done', data: { messageId: 'm', state: 'done', note: null } },
  ];
  const written = events
    .map(({ type, data }) => `: keep-alive\n\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
    .join('');

  it('is the same wherever it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(written.length)), (cuts) => {
        const parse = createEventParser();
        const places = [0, ...cuts.sort((a, b) => a - b), written.length];
        const parts = places.slice(1).map((end, index) => written.slice(places[index], end));
        expect(parts.flatMap((part) => parse(part))).to.deep.equal(events);
      }),
    );
  });

  it('leaves out what is no event of an answer, and what is no JSON', () => {
    const parse = createEventParser();
    expect(parse('event: other\ndata: {}\n\nevent: delta\ndata: {\n\ndata: {}\n\n')).to.deep.equal([]);
    expect(parse('event: delta\r\ndata: {"text":"a"}\r\n\r\n')).to.deep.equal([
      { type: 'delta', data: { text: 'a' } },
    ]);
  });
});

describe('a conversation', () => {
  it('says what went wrong and what to do, once', () => {
    const problem = (message: string, of: ConstructorParameters<typeof ChatError>[1]) =>
      describeProblem(new ChatError(message, of));
    expect(problem('The connection was lost.', { code: 'NETWORK' }).advice).to.equal(
      'What had come so far is kept. Ask again.',
    );
    expect(
      problem('You have asked 60 questions this hour', { code: 'TOO_MANY_REQUESTS', retryAfterSeconds: 600 }),
    ).to.deep.equal({
      message: 'You have asked 60 questions this hour',
      advice: 'Ask again in 10 minutes.',
      noProvider: false,
    });
    expect(
      problem('The provider did not answer. Try a smaller question', { code: 'UNAVAILABLE' }).advice,
    ).to.equal('');
    expect(problem('none', { code: 'PRECONDITION_FAILED', reason: 'no-ai-provider' }).noProvider).to.equal(
      true,
    );
  });
});

describe('a program that the assistant proposes', () => {
  const graph = {
    nodes: [
      {
        id: '1',
        componentKey: 'parse',
        componentType: 'remap',
        config: { source: '.a = 1', drop_on_error: true },
      },
      { id: '2', componentKey: 'only', componentType: 'filter', config: { condition: 'true' } },
    ],
    edges: [],
  } as unknown as EditorGraph;

  it('goes into the drawing where it is that of a remap, and leaves its other options', () => {
    let changed: EditorGraph | undefined;
    const apply = applyProgram({
      graph,
      change: ({ change }) => {
        changed = change(graph);
      },
    });
    apply([{ type: 'setVrl', componentKey: 'parse', program: '.a = 2' }])?.();
    expect(changed?.nodes[0]?.config).to.deep.equal({ source: '.a = 2', drop_on_error: true });
    for (const changes of [
      [{ type: 'setVrl', componentKey: 'only', program: 'false' }],
      [{ type: 'setVrl', componentKey: 'gone', program: 'false' }],
      [{ type: 'removeComponent', componentKey: 'parse' }],
      // The controller puts the credential back: here the mask would be saved in its place.
      [{ type: 'setVrl', componentKey: 'parse', program: '.token = "••••••"' }],
      [],
    ] as const)
      expect(apply(changes)).to.equal(null);
  });
});

describe('the form of a provider', () => {
  it('keeps the stored key where none is typed, and sends no number that is wrong', () => {
    const draft = { ...draftOf(null), model: ' gpt-5 ' };
    expect(inputOf('t', draft)).to.deep.include({
      teamId: 't',
      kind: 'openai',
      model: 'gpt-5',
      baseUrl: null,
      tokensPerDay: 500_000,
    });
    expect(inputOf('t', draft)).to.not.have.property('apiKey');
    expect(inputOf('t', { ...draft, apiKey: ' sk-1 ' })).to.include({ apiKey: 'sk-1' });
    expect(inputOf('t', { ...draft, model: ' ' })).to.equal(null);
    expect(inputOf('t', { ...draft, timeoutSeconds: '1' })).to.equal(null);
  });
});
