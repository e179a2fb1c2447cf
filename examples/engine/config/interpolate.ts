import { ConfigError } from './config-error.ts';

// `$$`, `$NAME`, `${NAME}` and `${NAME<op>text}`; the text ends at the first brace, so defaults do not nest.
const PLACEHOLDER = /\$\$|\$([\w.]+)|\$\{([\w.]+)(?:(:?[-?])([^}]*))?\}/g;

/**
 * Expands placeholders in the text of a whole file, before it is parsed: values go in verbatim.
 * `${X:-d}` is used when X is unset or empty, `${X-d}` when it is unset; `$$` gives `$`.
 * Throws ConfigError with Vector's texts, one for each bad placeholder.
 */
export function interpolate(text: string, env: Record<string, string | undefined>): string {
  const errors = new Set<string>();
  const expanded = text.replace(
    PLACEHOLDER,
    (match, bare, braced, operator, argument: string | undefined) => {
      if (match === '$$') return '$';
      const name: string = bare ?? braced;
      const value = env[name];
      if (value !== undefined && /[\r\n]/.test(value)) {
        errors.add(`Environment variable contains newline character. name = "${name}"`);
        errors.add(`Missing environment variable in config. name = "${name}"`);
        return '';
      }
      const wanted = operator?.startsWith(':') ? value || undefined : value;
      if (wanted !== undefined) return wanted;
      switch (operator) {
        case ':-':
        case '-':
          return argument ?? '';
        case ':?':
          errors.add(
            `Non-empty environment variable required in config. name = "${name}", error = "${argument}"`,
          );
          return '';
        case '?':
          errors.add(
            `Missing environment variable required in config. name = "${name}", error = "${argument}"`,
          );
          return '';
        default:
          errors.add(`Missing environment variable in config. name = "${name}"`);
          return '';
      }
    },
  );
  if (errors.size > 0) throw new ConfigError([...errors]);
  return expanded;
}
