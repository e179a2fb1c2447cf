/** Agents: the SDK's own client over real HTTP. */
import {
  Client,
  type jsonSchemaValidator,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import type { TestUser } from '../users/person.ts';

/** A personal token with the scopes. */
export const agentToken = async (
  person: TestUser,
  scopes: readonly string[] = ['mcp'],
  name = 'agent',
): Promise<string> => (await person.mutate<{ token: string }>('user.createToken', { name, scopes })).token;

export interface AgentClient {
  client: Client;
  names(): Promise<string[]>;
  /** The structured content; throws with the text where the tool failed. */
  call<T = Record<string, unknown>>(name: string, input?: Record<string, unknown>): Promise<T>;
  /** The text of a failure; throws where there is none. */
  failure(name: string, input?: Record<string, unknown>): Promise<string>;
}

export interface AgentOptions {
  /** The value of `?tools=`. */
  tools?: string;
  headers?: Record<string, string>;
  /** As clients of 2025 speak; the version of 2026 unless set. */
  isLegacy?: boolean;
}

const ajv = new AjvJsonSchemaValidator();

/**
 * Answers are checked as the SDK checks them, but a schema is compiled when the first answer of its tool comes: the SDK
 * compiles those of all tools after each `tools/list`.
 */
const validators: jsonSchemaValidator = {
  getValidator<T>(schema: Parameters<jsonSchemaValidator['getValidator']>[0]) {
    let compiled: ReturnType<typeof ajv.getValidator<T>> | undefined;
    return (input: unknown) => {
      compiled ??= ajv.getValidator<T>(schema);
      return compiled(input);
    };
  },
};

export async function connectAgent(
  base: string,
  token: string,
  { tools, headers = {}, isLegacy = false }: AgentOptions = {},
): Promise<AgentClient> {
  const url = new URL('/mcp', base);
  if (tools !== undefined) url.searchParams.set('tools', tools);
  const client = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode: isLegacy ? 'legacy' : { pin: '2026-07-28' } },
      jsonSchemaValidator: validators,
    },
  );
  await client.connect(
    new StreamableHTTPClientTransport(url, {
      requestInit: { headers: { authorization: `Bearer ${token}`, ...headers } },
    }),
  );
  const textOf = (content: readonly { type: string }[]) =>
    content.map((part) => ('text' in part ? String(part.text) : '')).join('\n');
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call<T>(name: string, input: Record<string, unknown> = {}) {
      const { isError, content, structuredContent } = await client.callTool({ name, arguments: input });
      if (isError) throw new Error(textOf(content));
      return structuredContent as T;
    },
    async failure(name, input = {}) {
      const { isError, content } = await client.callTool({ name, arguments: input });
      if (!isError) throw new Error(`${name} did not fail`);
      return textOf(content);
    },
  };
}
