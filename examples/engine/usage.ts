/** What is said of a command line that cannot be understood, in the words of Vector's parser. */
export interface UsageError {
  kind: 'usage-error';
  message: string;
}

export const SEE_HELP = "For more information, try '--help'.";

export function unexpected(word: string, usage: string): UsageError {
  return {
    kind: 'usage-error',
    message: `error: unexpected argument '${word}' found\n\nUsage: ${usage}\n\n${SEE_HELP}`,
  };
}

export function missingValue(flag: string): UsageError {
  return {
    kind: 'usage-error',
    message: `error: a valid value is required for '${flag} <VALUE>'\n\n${SEE_HELP}`,
  };
}

export function notBoolean(value: string, flag: string): UsageError {
  return {
    kind: 'usage-error',
    message: `error: invalid value '${value}' for '${flag}'\n  [possible values: true, false]\n\n${SEE_HELP}`,
  };
}
