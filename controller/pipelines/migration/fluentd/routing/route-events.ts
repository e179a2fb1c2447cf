/**
 * Routes events as Fluentd does: in each scope the filters whose pattern matches the tag, in their order, until the first match
 * that does. Where a tag is known, the pattern is decided here. Where it is not, a condition decides in the engine.
 */

import { type Emission, INPUT } from '../rules/draft.ts';
import { decide, exactTag, joinTags, splitTags, TagBudget, type TagSet, tagSet } from '../tags/tag-set.ts';
import { BlockParts } from './block-parts.ts';
import { orderScopes, ROOT, type RoutedBlock, type Scope, targetOf } from './scopes.ts';

/** Events that leave a component. */
export interface Stream {
  /** A component key, with `.port` for a named output. */
  from: string;
  tags: TagSet;
}

/** How often events can come back to a scope that they have left: a loop of labels has no end. */
const MAX_ROUNDS = 6;
const MAX_COMPONENTS = 5_000;

/** What each block consists of, by the index of the block. Notes about routing go to the drafts. */
export function routeEvents(blocks: readonly RoutedBlock[], claimKey: (wanted: string) => string) {
  return new Router(blocks, claimKey).run();
}

class Router {
  readonly #blocks: readonly RoutedBlock[];
  readonly #scopes: Scope[];
  readonly #rank: Map<string, number>;
  readonly #parts = new Map<number, BlockParts>();
  readonly #claimKey: (wanted: string) => string;
  /** Streams that come to a scope, in this round and in the next. */
  #pending = new Map<string, Stream[]>();
  #next = new Map<string, Stream[]>();
  readonly #entered = new Set<string>();
  #components = 0;
  readonly #budget = new TagBudget();

  constructor(blocks: readonly RoutedBlock[], claimKey: (wanted: string) => string) {
    this.#blocks = blocks;
    this.#claimKey = claimKey;
    this.#scopes = orderScopes(blocks);
    this.#rank = new Map(this.#scopes.map(({ name }, rank) => [name, rank]));
  }

  run(): ReadonlyMap<number, BlockParts> {
    const sources = this.#blocks.filter(({ kind }) => kind === 'source');
    for (const block of sources) this.#addSource(block);
    this.#addMissingSource(sources.length);
    for (let round = 0; this.#pending.size > 0 && round < MAX_ROUNDS; round += 1) {
      for (const scope of this.#scopes) {
        const streams = this.#pending.get(scope.name);
        if (!streams) continue;
        this.#entered.add(scope.name);
        this.#pass(scope, streams, round);
      }
      this.#pending = this.#next;
      this.#next = new Map();
    }
    for (const [name, streams] of this.#pending) this.#noteLoop(name, streams);
    for (const block of this.#blocks) this.#noteUnreached(block);
    return this.#parts;
  }

  #partsOf(block: RoutedBlock): BlockParts {
    const parts = this.#parts.get(block.index) ?? new BlockParts(block.draft, this.#claimKey);
    this.#parts.set(block.index, parts);
    return parts;
  }

  #addSource(block: RoutedBlock): void {
    const [from] = this.#partsOf(block).instance([], 0);
    const tags = tagSet(block.draft.tags);
    this.#send(this.#pending, block, block.scope, { from: from ?? block.draft.key, tags });
  }

  /** A part of a configuration may have no source: its blocks are translated all the same. */
  #addMissingSource(sources: number): void {
    const [first] = this.#scopes.find(({ name }) => name === ROOT)?.rules ?? [];
    if (sources > 0 || !first) return;
    const from = this.#claimKey('events');
    first.draft.action(
      `The text has no source. Add one with the key "${from}", or paste the text that has it.`,
      first.line,
    );
    this.#pending.set(ROOT, [{ from, tags: tagSet([[null]]) }]);
  }

  #send(to: Map<string, Stream[]>, block: RoutedBlock, scope: string, stream: Stream): void {
    if (!this.#rank.has(scope)) {
      block.draft.action(`There is no <label ${scope}>; paste the part that has it.`, block.line);
      return;
    }
    to.set(scope, [...(to.get(scope) ?? []), stream]);
  }

  /** Sends the streams through the rules of a scope. */
  #pass(scope: Scope, entering: readonly Stream[], round: number): void {
    let streams = [...entering];
    for (const [at, rule] of scope.rules.entries()) {
      if (streams.length === 0 || this.#components > MAX_COMPONENTS) break;
      const { taken, rest } = this.#select(rule, streams, at === scope.rules.length - 1);
      streams = rest;
      if (taken.length === 0) continue;
      const parts = this.#partsOf(rule);
      const inputs = taken.map(({ from }) => from);
      this.#components += rule.draft.pieces.length;
      if (rule.kind === 'filter') {
        const outputs = parts.instance(inputs, round);
        const tags = joinTags(taken.flatMap((stream) => stream.tags));
        streams.push(...outputs.map((from) => ({ from, tags })));
      } else {
        parts.instance(inputs, round);
        for (const emission of rule.draft.emissions) this.#emit(rule, emission, taken, round);
      }
    }
    this.#noteUnmatched(scope, streams);
  }

  #select(
    rule: RoutedBlock,
    streams: readonly Stream[],
    isLast: boolean,
  ): { taken: Stream[]; rest: Stream[] } {
    const taken: Stream[] = [];
    const rest: Stream[] = [];
    const undecided: Stream[] = [];
    for (const stream of streams) {
      const verdicts = new Set(
        stream.tags.map((alternative) => decide(alternative, rule.pattern, this.#budget)),
      );
      if (verdicts.size === 1 && verdicts.has('always')) taken.push(stream);
      else if (verdicts.size === 1 && verdicts.has('never')) rest.push(stream);
      else undecided.push(stream);
    }
    if (undecided.length === 0) return { taken, rest };
    const { condition, problem } = rule.pattern;
    if (condition === null) {
      rule.draft.open(
        `${problem ?? 'The tag pattern'}, which the engine cannot match: no event comes here.`,
        rule.line,
      );
      return { taken, rest: [...rest, ...undecided] };
    }
    this.#components += 1;
    const parts = this.#partsOf(rule);
    const inputs = undecided.map(({ from }) => from);
    const { matching, other } = splitTags(
      joinTags(undecided.flatMap(({ tags }) => tags)),
      rule.pattern,
      this.#budget,
    );
    const ports = isLast ? parts.select(inputs, condition) : parts.split(inputs, condition);
    taken.push({ from: ports.matched, tags: matching });
    if (ports.unmatched !== null) rest.push({ from: ports.unmatched, tags: other });
    return { taken, rest };
  }

  #emit(rule: RoutedBlock, emission: Emission, taken: readonly Stream[], round: number): void {
    const target = targetOf(emission, rule.scope);
    const isForward = (this.#rank.get(target) ?? -1) > (this.#rank.get(rule.scope) ?? -1);
    const to = isForward ? this.#pending : this.#next;
    if (emission.from === INPUT) {
      for (const stream of taken)
        this.#send(to, rule, target, { ...stream, tags: tagsAfter(emission, stream.tags) });
      return;
    }
    const tags = tagsAfter(emission, joinTags(taken.flatMap((stream) => stream.tags)));
    this.#send(to, rule, target, { from: this.#partsOf(rule).emittingKey(emission.from, round), tags });
  }

  #noteUnmatched(scope: Scope, streams: readonly Stream[]): void {
    const known = streams.flatMap(({ tags }) => tags.flatMap(({ shape }) => exactTag(shape) ?? []));
    const [block] = scope.rules.filter(({ kind }) => kind === 'match').slice(-1);
    if (known.length === 0 || !block) return;
    block.draft.info(
      `No <match> takes events with the tag ${[...new Set(known)].slice(0, 5).join(', ')}: they are dropped, as in Fluentd.`,
    );
  }

  #noteLoop(name: string, streams: readonly Stream[]): void {
    const [first] = this.#scopes.find((scope) => scope.name === name)?.rules ?? [];
    if (streams.length === 0 || !first) return;
    first.draft.difference(
      `Events come back to ${name === ROOT ? 'the beginning' : `<label ${name}>`} again and again; they are dropped after ${MAX_ROUNDS} rounds.`,
      first.line,
      'large',
    );
  }

  #noteUnreached(block: RoutedBlock): void {
    if (block.kind === 'source' || this.#parts.has(block.index)) return;
    const { draft, line, scope } = block;
    if (this.#components > MAX_COMPONENTS) {
      draft.open(
        `The pipeline would have more than ${MAX_COMPONENTS} components; migrate the configuration in parts.`,
        line,
      );
      return;
    }
    if (scope === '@ERROR') {
      draft.difference(
        'Fluentd sends events on which plugins fail to @ERROR. Here such events are dropped and counted.',
        line,
      );
    } else if (scope === '@FLUENT_LOG') {
      draft.info(
        'The log of Fluentd itself does not exist here; Headgate collects the log of the engine.',
        line,
      );
    } else if (scope !== ROOT && !this.#entered.has(scope)) {
      draft.info(`Nothing is sent to <label ${scope}>, so the block does nothing, as in Fluentd.`, line);
    } else if (block.pattern.automaton?.matches('fluent.warn')) {
      draft.info(
        'The log of Fluentd itself does not exist here; Headgate collects the log of the engine.',
        line,
      );
    } else {
      draft.info(
        'No event that comes here has a tag that matches, so the block does nothing, as in Fluentd.',
        line,
      );
    }
  }
}

function tagsAfter(emission: Emission, tags: TagSet): TagSet {
  const { tag } = emission;
  if (tag.kind === 'same') return tags;
  if (tag.kind === 'set') return tagSet(tag.shapes);
  return joinTags(
    tags.map(({ shape }) => {
      const [first, ...more] = shape;
      const prefix = `${tag.prefix}.`;
      if (typeof first === 'string' && first.startsWith(prefix)) {
        return { shape: [first.slice(prefix.length), ...more], facts: [] };
      }
      // What is shorter than the prefix may or may not begin with it.
      return { shape: typeof first === 'string' && !prefix.startsWith(first) ? shape : [null], facts: [] };
    }),
  );
}
