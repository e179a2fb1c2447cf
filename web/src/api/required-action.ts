import type { Me } from '../../../schemas/api/identity/people.ts';

const OBLIGATIONS: readonly Me['owes'][] = ['CHANGE_PASSWORD', 'SET_UP_TWO_FACTOR', 'PROVE_TWO_FACTOR'];

/** Null for what no page is there for. */
export const obligationOf = (owes: unknown): Me['owes'] => OBLIGATIONS.find((one) => one === owes) ?? null;
