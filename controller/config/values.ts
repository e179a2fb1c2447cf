/** What the variables of every group are made of. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** What the controller knows of a variable; `default` and `help` are for `headgate serve --help`. */
export interface Variable {
  name: string;
  default: string;
  help: string;
}

export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

export function integer(
  env: Environment,
  name: string,
  fallback: number,
  least: number,
  most: number,
): number {
  const text = env[name];
  if (text === undefined || text === '') return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new ConfigError(
      `${name} must be a whole number from ${least} to ${most}, not "${text.slice(0, 40)}"`,
    );
  }
  return value;
}

/** The entries of a text with commas. */
export const listed = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
