/**
 * What the controller's engine says of programs that the VRL compiler at hand refuses or does not know in full. That
 * compiler is older than engines are, so the engine's word counts. Programs are compiled and never run.
 */
import { stringify } from 'yaml';
import type { EngineValidation, Program, ProgramResult } from '../checks.ts';
import { callsOf } from './vrl-functions.ts';

/** Of one run of the engine. */
const AT_ONCE = 50;
/** Compiles in no engine. One that does not refuse it compiles no programs, and its word says nothing. */
const PROBE = 'svc_probe';
const WRONG = '.a = = 1';

type Validate = (configYaml: string, signal?: AbortSignal) => Promise<EngineValidation>;

/** `results` with those corrected that the engine takes. An engine that refuses one leaves what was found before. */
export async function reviewByEngine(
  validate: Validate,
  programs: readonly Program[],
  results: readonly ProgramResult[],
  signal?: AbortSignal,
): Promise<ProgramResult[]> {
  const reviewed = [...results];
  const doubted = programs.flatMap((program, index) => {
    const result = results[index];
    return result && (result.errors.length > 0 || result.unknown.length > 0) ? [{ program, index }] : [];
  });
  for (let first = 0; first < doubted.length; first += AT_ONCE) {
    const part = doubted.slice(first, first + AT_ONCE);
    const accepted = await askEngine(
      validate,
      part.map(({ program }) => program),
      signal,
    );
    for (const [at, { index }] of part.entries())
      if (accepted[at]) reviewed[index] = { errors: [], unknown: [] };
  }
  return reviewed;
}

/** One answer a program, in order. */
async function askEngine(
  validate: Validate,
  programs: readonly Program[],
  signal?: AbortSignal,
): Promise<boolean[]> {
  const none = programs.map(() => false);
  const config = {
    sources: { svc_source: { type: 'demo_logs', format: 'json' } },
    transforms: Object.fromEntries([
      [PROBE, transformOf({ source: WRONG, purpose: 'program' })],
      ...programs.map((program, index) => [`p${index}`, transformOf(program)]),
    ]),
    sinks: { svc_sink: { type: 'blackhole', inputs: [PROBE, ...programs.map((_, index) => `p${index}`)] } },
  };
  const answer = await validate(
    stringify(config, { lineWidth: 0, aliasDuplicateObjects: false, defaultStringType: 'QUOTE_DOUBLE' }),
    signal,
  );
  if (answer.status !== 'checked') return none;
  const keys = answer.errors.map(({ componentKey }) => componentKey);
  // An error without a component may be about any of them.
  if (!keys.includes(PROBE) || keys.includes(null)) return none;
  const lacking = new Set(answer.unknown.map((what) => what.split(' ').at(-1)));
  return programs.map(
    ({ source }, index) =>
      !keys.includes(`p${index}`) && !callsOf(source).some(({ name }) => lacking.has(name)),
  );
}

const transformOf = ({ source, purpose }: Program) =>
  purpose === 'condition'
    ? { type: 'filter', inputs: ['svc_source'], condition: { type: 'vrl', source } }
    : { type: 'remap', inputs: ['svc_source'], source };
