import { sentence } from '../../ui/text/format.ts';

const clockTime = (at: Date): string => at.toLocaleTimeString(undefined, { timeStyle: 'short' });

interface Refusal {
  message: string;
  retryAt: Date | null;
}

/** The server's sentence, and from when on another try is looked at. */
export const refusalText = ({ message, retryAt }: Refusal): string => {
  if (!retryAt) return message;
  // The minute that has begun is not over yet.
  const next = new Date(Math.ceil(retryAt.getTime() / 60_000) * 60_000);
  return `${sentence(message)} The next one is looked at from ${clockTime(next)} on.`;
};
