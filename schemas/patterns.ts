/** Patterns of texts that users type, each with the message for a text that does not match. */
const messages = new Map<string, string>();

/** Answers the pattern; `message` goes on behind the name of the field: `must …`. */
export function worded(pattern: string, message: string): string {
  messages.set(pattern, message);
  return pattern;
}

export const messageOfPattern = (pattern: string): string | undefined => messages.get(pattern);
