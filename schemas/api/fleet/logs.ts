/** Log lines of pipelines, as the nodes' engines wrote them. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Id, Input, Nullable, Text, Timestamp } from '../common.ts';

export const LOG_LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] as const;
export const LogLevel = Type.Enum([...LOG_LEVELS]);
export type LogLevel = Static<typeof LogLevel>;

export const LogLine = Type.Object({
  /** Grows with each stored line; the cursor counts by it. */
  seq: Type.String(),
  /** When the controller received it; the text may hold the node's own time. */
  receivedAt: Timestamp,
  nodeId: Id,
  nodeName: Nullable(Type.String()),
  pipelineId: Id,
  pipelineName: Nullable(Type.String()),
  /** From a JSON `level` or the text near the line's start; INFO where it tells none. */
  level: LogLevel,
  line: Type.String(),
});
export type LogLine = Static<typeof LogLine>;

/** Newest first. Behind a filter that few lines meet, a page may hold fewer than its limit, or none, and still go on. */
export const LogPage = Type.Object({
  lines: Type.Array(LogLine),
  /** Give it as `cursor` for the lines before these; null at the end. */
  nextCursor: Nullable(Type.String()),
});
export type LogPage = Static<typeof LogPage>;

const Cursor = Type.String({
  pattern: worded('^[0-9]{1,18}$', 'must be a cursor that an earlier answer gave'),
});
const Limit = Type.Integer({ minimum: 1, maximum: 1_000, default: 200 });
const Levels = Type.Array(LogLevel, { minItems: 1, maxItems: LOG_LEVELS.length, uniqueItems: true });

export const PipelineLogs = Input({
  pipelineId: Id,
  cursor: Type.Optional(Cursor),
  limit: Type.Optional(Limit),
  levels: Type.Optional(Levels),
  nodeId: Type.Optional(Id),
  /** Nothing that was received before. */
  since: Type.Optional(Timestamp),
  /** Only lines that hold this text, in any case. */
  contains: Type.Optional(Text(200)),
});
export type PipelineLogs = Static<typeof PipelineLogs>;

export const NodeLogs = Input({
  nodeId: Id,
  cursor: Type.Optional(Cursor),
  limit: Type.Optional(Limit),
  levels: Type.Optional(Levels),
  pipelineId: Type.Optional(Id),
  since: Type.Optional(Timestamp),
  contains: Type.Optional(Text(200)),
});
export type NodeLogs = Static<typeof NodeLogs>;
