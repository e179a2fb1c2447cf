/** Anthropic's messages. */
import type { ClientSettings, ModelClient, ModelEvent, ModelRequest } from './model-client.ts';

/** Of one answer. */
const MOST_TOOL_CALLS = 20;
const MOST_TOOL_BYTES = 256 * 1024;

export async function createAnthropicClient(settings: ClientSettings): Promise<ModelClient> {
  // Loaded with the first question: it is large.
  const { Anthropic } = await import('@anthropic-ai/sdk');
  const { model, baseUrl, apiKey, fetch, retries, deadlineMs } = settings;
  const client = new Anthropic({
    ...{ baseURL: baseUrl, apiKey: apiKey ?? 'none', fetch, maxRetries: retries, timeout: deadlineMs },
    // Nothing of the environment's.
    ...{ authToken: null, webhookKey: null, logLevel: 'off' },
    ...(apiKey === null ? { defaultHeaders: { authorization: null } } : {}),
  });

  const toBody = ({ system, messages, tools, maxTokens }: ModelRequest) => ({
    model,
    max_tokens: maxTokens,
    stream: true as const,
    system,
    messages: messages.map(({ author, text }) => ({ role: author, content: text })),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            ...{ name, description, input_schema: { ...parameters, type: 'object' as const } },
          })),
        }),
  });

  return {
    async *stream(request): AsyncGenerator<ModelEvent> {
      const calls = new Map<number, { name: string; input: string }>();
      let inputTokens = 0;
      const events = await client.messages.create(toBody(request), { signal: request.signal });
      for await (const event of events) {
        if (event.type === 'message_start') {
          const { usage } = event.message;
          // What is read from and written to a cache is billed as input too.
          inputTokens =
            usage.input_tokens +
            (usage.cache_creation_input_tokens ?? 0) +
            (usage.cache_read_input_tokens ?? 0);
          yield { type: 'usage', inputTokens, outputTokens: usage.output_tokens };
        } else if (event.type === 'content_block_start') {
          const { content_block: block } = event;
          if (block.type === 'tool_use' && calls.size < MOST_TOOL_CALLS)
            calls.set(event.index, { name: block.name, input: '' });
        } else if (event.type === 'content_block_delta') {
          const { delta } = event;
          if (delta.type === 'text_delta') yield { type: 'text', text: delta.text };
          const call = calls.get(event.index);
          if (delta.type === 'input_json_delta' && call && call.input.length < MOST_TOOL_BYTES)
            call.input += delta.partial_json;
        } else if (event.type === 'message_delta') {
          yield { type: 'usage', inputTokens, outputTokens: event.usage.output_tokens };
          if (event.delta.stop_reason === 'max_tokens') yield { type: 'cut', reason: 'length' };
          if (event.delta.stop_reason === 'refusal') yield { type: 'cut', reason: 'filter' };
        }
      }
      for (const call of calls.values()) yield { type: 'tool', ...call };
    },
  };
}
