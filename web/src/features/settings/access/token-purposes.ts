/** What a personal token is made for. One for git opens nothing else, and the other way round. */
export const PURPOSES = {
  git: {
    label: 'Git: clone and push',
    scopes: ['git'],
    explanation: 'Git asks for it as the password when you clone or push the built-in repository.',
  },
  mcp: {
    label: 'Agents: read and propose',
    scopes: ['mcp'],
    explanation:
      'An AI agent reads what you may read. Its changes become pull requests, and are refused where git does not describe what they change.',
  },
  'mcp.write': {
    label: 'Agents: change at once',
    scopes: ['mcp.write'],
    explanation:
      'An AI agent changes, deploys and rolls back what you may, and nobody looks at it first. It approves and merges nothing, and sees no value of a secret.',
  },
} as const;
export type Purpose = keyof typeof PURPOSES;

export const purposeOf = (scopes: readonly string[]): string =>
  Object.values(PURPOSES)
    .filter((purpose) => purpose.scopes.some((scope) => scopes.includes(scope)))
    .map(({ label }) => label)
    .join(', ');
