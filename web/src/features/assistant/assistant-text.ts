/** What the panel says in words. No React, so that tests read it. */
import type { ConversationKind } from '../../../../schemas/api/pipelines/conversations.ts';
import { ChatError } from './chat-stream.ts';

/** What is asked about; `componentKey` of conversations about VRL. */
export interface Topic {
  kind: ConversationKind;
  componentKey?: string;
}

export const titleOf = ({ kind, componentKey }: Topic): string =>
  kind === 'vrl' ? `VRL of ${componentKey}` : 'Assistant';

interface Texts {
  /** Of an empty conversation. */
  invitation: string;
  examples: readonly string[];
  placeholder: string;
}

export const TEXTS: Readonly<Record<ConversationKind, Texts>> = {
  pipeline: {
    invitation:
      'Describe what should be different. The assistant proposes changes of the saved graph; each is checked, and nothing changes before you apply it.',
    examples: [
      'Drop debug events before they reach the sink',
      'Add a second sink that keeps errors only',
      'What does this pipeline do?',
    ],
    placeholder: 'What should change?',
  },
  debug: {
    invitation:
      'Ask why the pipeline does not do what it should. The assistant looks at its status, its last errors, lines of its log, its figures and the change before them.',
    examples: [
      'Why does it fail?',
      'Since when does it lose events, and why?',
      'What changed before the first error?',
    ],
    placeholder: 'What is wrong?',
  },
  vrl: {
    invitation:
      'Describe what the program should do with an event. It is compiled, and run on an event, before it is shown.',
    examples: [
      'Parse the message as JSON and drop it where that fails',
      'Hide e-mail addresses',
      'Explain this program',
    ],
    placeholder: 'What should the program do?',
  },
};

export interface ChatProblem {
  message: string;
  /** What to do. */
  advice: string;
  noProvider: boolean;
}

const ADVICE: Readonly<Record<string, string>> = {
  NETWORK: 'What had come so far is kept. Ask again.',
  UNAUTHORIZED: 'Your session has ended. Sign in again.',
  FORBIDDEN: 'Ask an administrator of the team.',
  CONFLICT: 'Wait for the answer that is being written, or stop it.',
};

/** Messages of the server say themselves what to do where they have a second sentence. */
const isComplete = (message: string): boolean => /[.;:]\s+\S/.test(message);

export function describeProblem(error: unknown): ChatProblem {
  const isChat = error instanceof ChatError;
  const message = error instanceof Error ? error.message : String(error);
  const noProvider = isChat && error.reason === 'no-ai-provider';
  const wait =
    isChat && error.retryAfterSeconds !== null ? `Ask again ${inTime(error.retryAfterSeconds)}.` : '';
  const advice = wait || (isComplete(message) ? '' : (isChat && ADVICE[error.code]) || 'Ask again.');
  return { message, advice: message.includes(advice) ? '' : advice, noProvider };
}

function inTime(seconds: number): string {
  if (seconds < 90) return `in ${seconds} s`;
  if (seconds < 5_400) return `in ${Math.round(seconds / 60)} minutes`;
  return `in ${Math.round(seconds / 3_600)} hours`;
}
