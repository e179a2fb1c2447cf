/** OpenAI's chat completions, as many others serve them too. */
import type { OpenAI as Client } from 'openai';
import type { ClientSettings, ModelClient, ModelEvent, ModelRequest } from './model-client.ts';

type Completion = Client.Chat.ChatCompletionCreateParamsStreaming;

/** Only these know `max_completion_tokens`, and their newer models know nothing else. */
const NEWER_LIMIT = /(^|\.)(openai|azure)\.com$/;
/** Of one answer. */
const MOST_TOOL_CALLS = 20;
const MOST_TOOL_BYTES = 256 * 1024;

export async function createOpenAiClient(settings: ClientSettings): Promise<ModelClient> {
  // Loaded with the first question: it is large.
  const { OpenAI, APIError } = await import('openai');
  const { model, baseUrl, apiKey, fetch, retries, deadlineMs } = settings;
  const client = new OpenAI({
    ...{ baseURL: baseUrl, apiKey: apiKey ?? 'none', fetch, maxRetries: retries, timeout: deadlineMs },
    // Nothing of the environment's.
    ...{ organization: null, project: null, adminAPIKey: null, webhookSecret: null, logLevel: 'off' },
    ...(apiKey === null ? { defaultHeaders: { authorization: null } } : {}),
  });
  const isNewer = NEWER_LIMIT.test(new URL(baseUrl).hostname);

  const toBody = ({ system, messages, tools, maxTokens }: ModelRequest): Completion => ({
    model,
    stream: true,
    stream_options: { include_usage: true },
    ...(isNewer ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }),
    messages: [
      { role: 'system', content: system },
      ...messages.map(({ author, text }) => ({ role: author, content: text })),
    ],
    ...(tools.length === 0
      ? {}
      : { tools: tools.map((tool) => ({ type: 'function' as const, function: { ...tool } })) }),
  });

  /** Some endpoints know no tools, or no options of streams: they are asked without. */
  async function open(request: ModelRequest) {
    let body = toBody(request);
    for (;;) {
      try {
        return await client.chat.completions.create(body, { signal: request.signal });
      } catch (error) {
        if (!(error instanceof APIError) || ![400, 404, 422].includes(error.status ?? 0)) throw error;
        const { tools, stream_options, ...rest } = body;
        if (tools && /\btools?\b|function/i.test(error.message))
          body = { ...rest, ...(stream_options ? { stream_options } : {}) };
        else if (stream_options && /stream_options|include_usage/i.test(error.message))
          body = { ...rest, ...(tools ? { tools } : {}) };
        else throw error;
      }
    }
  }

  return {
    async *stream(request): AsyncGenerator<ModelEvent> {
      const calls = new Map<number, { name: string; input: string }>();
      for await (const { choices, usage } of await open(request)) {
        if (usage)
          yield {
            type: 'usage',
            ...{ inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens },
          };
        const choice = choices?.[0];
        if (!choice) continue;
        const { content, refusal, tool_calls: parts = [] } = choice.delta ?? {};
        if (content || refusal) yield { type: 'text', text: content || refusal || '' };
        for (const { index = 0, function: part } of parts ?? []) {
          const call = calls.get(index) ?? { name: '', input: '' };
          call.name += part?.name ?? '';
          if (call.input.length < MOST_TOOL_BYTES) call.input += part?.arguments ?? '';
          if (calls.size < MOST_TOOL_CALLS) calls.set(index, call);
        }
        if (choice.finish_reason === 'length') yield { type: 'cut', reason: 'length' };
        if (choice.finish_reason === 'content_filter') yield { type: 'cut', reason: 'filter' };
      }
      for (const call of calls.values()) yield { type: 'tool', ...call };
    },
  };
}
