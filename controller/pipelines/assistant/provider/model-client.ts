/** What the assistant asks of any provider, and what comes back as it comes. */

export interface ChatMessage {
  author: 'user' | 'assistant';
  text: string;
}

export interface ModelTool {
  name: string;
  description: string;
  /** JSON Schema of an object. */
  parameters: Record<string, unknown>;
}

export interface ModelRequest {
  system: string;
  /** The last one is the user's. */
  messages: readonly ChatMessage[];
  tools: readonly ModelTool[];
  maxTokens: number;
  signal: AbortSignal;
}

export type ModelEvent =
  | { type: 'text'; text: string }
  /** Whole; `input` is the text that the model wrote, of whatever form. */
  | { type: 'tool'; name: string; input: string }
  /** Tokens so far, of the whole request. */
  | { type: 'usage'; inputTokens: number; outputTokens: number }
  /** The answer was cut off at `maxTokens`, or the provider withheld it. */
  | { type: 'cut'; reason: 'length' | 'filter' };

/** One endpoint with its key. It throws what its client throws: `providerError` explains it. */
export interface ModelClient {
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}

/** How a client of a vendor is set up. */
export interface ClientSettings {
  baseUrl: string;
  /** Null sends none. */
  apiKey: string | null;
  model: string;
  fetch: (address: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** Tries after a failed one, with a short pause. */
  retries: number;
  /** Milliseconds: the client itself gives up then. */
  deadlineMs: number;
}
