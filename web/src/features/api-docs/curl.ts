import type { Operation, Parameter } from './document.ts';

const MAX_LINE = 90;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A request for a terminal that fits the description: with a key from the environment, or with the cookie of a sign-in. */
export function curlLines(operation: Operation, origin: string): string[] {
  const { method, body } = operation;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(exampleOf(operation.parameters.find((one) => one.name === name)) ?? name)),
  );
  const query = operation.parameters.filter((one) => one.in === 'query').flatMap(asQuery);
  const parts = [
    operation.role === null ? '-H "Authorization: Bearer $HEADGATE_KEY"' : '-b jar',
    ...(query.length > 0 ? ['-G', ...query.map((one) => `--data-urlencode ${quoted(one)}`)] : []),
    ...(body ? ["-H 'Content-Type: application/json'", `-d ${quoted(jsonOf(body.example))}`] : []),
    `${origin}${path}`,
  ];
  const first = method === 'GET' || (method === 'POST' && body) ? 'curl' : `curl -X ${method}`;
  return [first, ...parts.map((part) => `  ${part}`)].map((line, index, all) =>
    index === all.length - 1 ? line : `${line} \\`,
  );
}

/** In lines where one would be too long to read; a shell takes both. */
function jsonOf(value: unknown): string {
  const line = JSON.stringify(value);
  return line.length <= MAX_LINE ? line : JSON.stringify(value, null, 2);
}

function exampleOf(parameter: Parameter | undefined): unknown {
  return parameter?.example ?? parameter?.content?.['application/json']?.example;
}

function asQuery(parameter: Parameter): string[] {
  const example = exampleOf(parameter);
  if (parameter.content) return [`${parameter.name}=${JSON.stringify(example)}`];
  return (Array.isArray(example) ? example : [example]).map((one) => `${parameter.name}=${String(one)}`);
}
