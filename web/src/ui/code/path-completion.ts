import type { CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete';
import { type PathOffer, pathBefore } from './vrl-paths.ts';

/** Longer paths are not looked back for. */
const LOOK_BACK = 300;

/** Offers paths of events where a VRL program begins one. */
export const completePaths =
  (offers: readonly PathOffer[]): CompletionSource =>
  (context: CompletionContext): CompletionResult | null => {
    const { from } = context.state.doc.lineAt(context.pos);
    const before = context.state.sliceDoc(Math.max(from, context.pos - LOOK_BACK), context.pos);
    const start = pathBefore(before);
    if (start === null || offers.length === 0) return null;
    return {
      from: context.pos - (before.length - start),
      options: offers.map(({ path, about }) => ({ label: path, detail: about })),
    };
  };
