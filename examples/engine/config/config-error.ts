/** One or more reasons why a configuration is refused, in the words that are shown to the user. */
export class ConfigError extends Error {
  readonly messages: string[];

  constructor(messages: string | string[]) {
    const list = typeof messages === 'string' ? [messages] : messages;
    super(list.join('\n'));
    this.messages = list;
  }
}

/** Runs every step and throws once with all that failed, so that a user sees every mistake in one go. */
export function collectErrors(steps: Iterable<() => void>): void {
  const messages: string[] = [];
  for (const step of steps) {
    try {
      step();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      messages.push(...error.messages);
    }
  }
  if (messages.length > 0) throw new ConfigError(messages);
}
