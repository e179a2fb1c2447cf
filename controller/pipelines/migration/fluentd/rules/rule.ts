/** Rules translate the plugins of one kind of directive. */
import type { Section } from '../section/section.ts';
import type { Draft } from './draft.ts';

export type Rule = (section: Section, draft: Draft) => void;
export type Rules = Readonly<Record<string, Rule>>;
