/** Where in the rendered text a problem stands that points into the definition. */
import { isCollection, isMap, isPair, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import type { Problem } from '../model/problems.ts';

export interface PlacedProblem {
  /** From 1. */
  line: number;
  column: number;
  message: string;
}

/** What points at nothing in the text (a component that is left out) stands at the nearest thing around it. */
export function placeProblems(text: string, problems: readonly Problem[]): PlacedProblem[] {
  if (problems.length === 0 || text === '') return [];
  const counter = new LineCounter();
  const root = parseDocument(text, { lineCounter: counter }).contents;
  return problems.map((problem) => {
    const at = root ? locate(root, text, counter, problem) : { line: 1, column: 1 };
    return { ...at, message: problem.message };
  });
}

function locate(root: Node, text: string, counter: LineCounter, problem: Problem) {
  const steps = (problem.path ?? '')
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (steps[0] === 'global') steps.shift();
  let node: unknown = root;
  let offset = root.range?.[0] ?? 0;
  let found = 0;
  for (const step of steps) {
    if (!isCollection(node)) break;
    const pair = isMap(node)
      ? node.items.find((item) => isScalar(item.key) && String(item.key.value) === step)
      : undefined;
    const next = pair ? pair.value : node.items[Number(step)];
    if (next === undefined || (isMap(node) && !pair)) break;
    if (pair && isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
    else if (!isPair(next)) offset = (next as Node).range?.[0] ?? offset;
    node = next;
    found += 1;
  }
  if (problem.line !== undefined && isScalar(node) && found === steps.length)
    return inside(node, text, counter, problem.line, problem.column ?? 1);
  const { line, col } = counter.linePos(offset);
  return { line, column: col };
}

/** A line of a text in the text: a block begins below its sign and is indented. */
function inside(
  scalar: { type?: string; range?: [number, number, number] | null },
  text: string,
  counter: LineCounter,
  line: number,
  column: number,
): { line: number; column: number } {
  const start = counter.linePos(scalar.range?.[0] ?? 0);
  if (scalar.type !== 'BLOCK_LITERAL' && scalar.type !== 'BLOCK_FOLDED') {
    const quote = scalar.type === 'QUOTE_DOUBLE' || scalar.type === 'QUOTE_SINGLE' ? 1 : 0;
    return line === 1
      ? { line: start.line, column: start.col + quote + column - 1 }
      : { line: start.line, column: start.col };
  }
  const at = start.line + line;
  const written = text.split('\n')[start.line] ?? '';
  return { line: at, column: written.length - written.trimStart().length + column };
}
