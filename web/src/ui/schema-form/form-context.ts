/** What every field of one form has in common. */
import { createContext, useContext, useMemo } from 'react';
import type { Snippet } from '../code/snippet-select.tsx';
import type { PathOffer } from '../code/vrl-paths.ts';

export interface OptionProblem {
  /** JSON pointer of the option in the value of the form. */
  pointer: string;
  /** Inside the option's text, from 1. */
  line?: number;
  column?: number;
  message: string;
}

export interface FormContext {
  readOnly: boolean;
  problems: readonly OptionProblem[];
  /** References to secrets that may be written in the place of a credential. */
  secrets: readonly string[];
  /** Pieces of VRL to begin with. */
  snippets: readonly Snippet[];
  /** Fields that events have where the form's component takes them in; absent where none are known. */
  paths?: readonly PathOffer[];
  /** Called with a message while a text is no valid value, and with an empty one when it is valid or gone. */
  onDraft: (pointer: string, message: string) => void;
}

const Context = createContext<FormContext>({
  readOnly: false,
  problems: [],
  secrets: [],
  snippets: [],
  onDraft: () => undefined,
});

export const FormProvider = Context;
export const useForm = (): FormContext => useContext(Context);

/** What is wrong with exactly this option. */
export function useProblems(pointer: string): readonly OptionProblem[] {
  const { problems } = useForm();
  return useMemo(() => problems.filter((problem) => problem.pointer === pointer), [problems, pointer]);
}

export const childPointer = (pointer: string, name: string | number): string =>
  `${pointer}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
