/** Compiles a program as the engine would see it. */
import type { CheckResult, CompilationDiagnostic } from '@bpinternal/verel';
import type { ProgramResult } from '../checks.ts';
import type { EngineView } from '../engine-view.ts';
import { labelsOf, positionOf, spanOf } from './vrl-diagnostics.ts';
import { isLacking, nearestFunction } from './vrl-functions.ts';
import { vrlView } from './vrl-view.ts';

export type Check = (source: string) => CheckResult;

const UNDEFINED_FUNCTION = 105;

export function compileProgram(check: Check, source: string): ProgramResult {
  const view = vrlView(source);
  const result: ProgramResult = { errors: [], unknown: [] };
  for (const diagnostic of check(view.text).errors) {
    const name = lackingFunction(view, diagnostic);
    if (name !== undefined) {
      result.unknown.push(`the VRL function ${name}`);
      continue;
    }
    const labels = labelsOf(diagnostic);
    const messages = labels.map((label) => label.message).filter((text) => text !== '');
    const suggested = messages.find((text) => text.startsWith('did you mean'));
    const suggestion = suggestionFor(view, diagnostic) ?? suggested;
    const details = messages.filter((text) => text !== suggested);
    const notes = diagnostic.notes.map((note) => note.message).filter((text) => text !== '');
    const { line, column } = positionOf(source, view, spanOf(view, labels[0]?.span ?? [0, 0]));
    result.errors.push({
      message: [`${diagnostic.message} (E${String(diagnostic.code).padStart(3, '0')})`, ...details].join(
        '; ',
      ),
      line,
      column,
      hint: suggestion ?? notes[0] ?? `see https://errors.vrl.dev/${diagnostic.code}`,
    });
  }
  return result;
}

/** The name of a function that only the compiler at hand lacks, where that is what is wrong. */
export function lackingFunction(view: EngineView, diagnostic: CompilationDiagnostic): string | undefined {
  const name = undefinedFunction(view, diagnostic);
  return name !== undefined && isLacking(name) ? name : undefined;
}

/** For a misspelt function, by all functions of VRL: the compiler at hand would name another. */
export function suggestionFor(view: EngineView, diagnostic: CompilationDiagnostic): string | undefined {
  const name = undefinedFunction(view, diagnostic);
  const near = name === undefined ? undefined : nearestFunction(name);
  return near === undefined ? undefined : `did you mean "${near}"?`;
}

function undefinedFunction(view: EngineView, diagnostic: CompilationDiagnostic): string | undefined {
  if (diagnostic.code !== UNDEFINED_FUNCTION) return undefined;
  const { start, end } = spanOf(view, labelsOf(diagnostic)[0]?.span ?? [0, 0]);
  return view.text.slice(start, end).replace(/[!(].*$/s, '');
}
