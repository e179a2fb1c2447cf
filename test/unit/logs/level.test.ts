/** The level of a log line, by its own text. */
import { expect } from 'chai';
import fc from 'fast-check';
import { levelOf, levelsOf } from '../../../controller/fleet/logs/log-level.ts';
import { LOG_LEVELS, type LogLevel } from '../../../schemas/api/logs.ts';

const ROWS: { reason: string; line: string; level: LogLevel | null }[] = [
  { reason: 'JSON', line: '{"level":"ERROR","message":"x"}', level: 'ERROR' },
  { reason: 'JSON in lower case', line: '{"timestamp":"2026","level":"warn"}', level: 'WARN' },
  { reason: 'JSON, WARNING', line: '{"severity":"WARNING"}', level: 'WARN' },
  { reason: 'JSON, FATAL', line: '{"Level":"Fatal"}', level: 'ERROR' },
  { reason: 'JSON, CRITICAL', line: '{"levelname":"CRITICAL"}', level: 'ERROR' },
  { reason: 'JSON, a key with a dot', line: '{"log.level":"debug"}', level: 'DEBUG' },
  { reason: 'pino 10', line: '{"level":10}', level: 'TRACE' },
  { reason: 'pino 20', line: '{"level":20}', level: 'DEBUG' },
  { reason: 'pino 30', line: '{"level":30,"time":1}', level: 'INFO' },
  { reason: 'bunyan 40', line: '{"name":"a","level":40}', level: 'WARN' },
  { reason: 'pino 60', line: '{"level":60}', level: 'ERROR' },
  { reason: 'GELF 3', line: '{"version":"1.1","level":3}', level: 'ERROR' },
  { reason: 'a number as text', line: '{"level":"50"}', level: 'ERROR' },
  {
    reason: 'JSON with the level of something inside',
    line: '{"a":{"level":"error"},"level":"info"}',
    level: 'INFO',
  },
  { reason: 'JSON that quotes another', line: '{"message":"{\\"level\\":\\"error\\"}"}', level: null },
  { reason: 'JSON with a level that is none', line: '{"level":"north"}', level: null },
  { reason: 'JSON that was cut', line: '{"level":"error","message":"aaa', level: 'ERROR' },
  { reason: 'JSON with no level', line: '{"message":"ERROR"}', level: null },
  {
    reason: 'the engine',
    line: '2026-11-21T10:00:00.123456Z ERROR vector::topology: Configuration error.',
    level: 'ERROR',
  },
  {
    reason: 'the engine, padded',
    line: '2026-11-21T10:00:00.123456Z  INFO vector::app: no errors',
    level: 'INFO',
  },
  {
    reason: 'the engine, a span',
    line: '2026-11-21T10:00:00Z  WARN sink{component_id=a}: vector: x',
    level: 'WARN',
  },
  {
    reason: 'colours',
    line: '\u001b[2m2026-11-21T10:00:00Z\u001b[0m \u001b[31mERROR\u001b[0m vector: x',
    level: 'ERROR',
  },
  { reason: 'logfmt', line: 'time=2026-11-21T10:00:00Z level=warn msg="no errors"', level: 'WARN' },
  { reason: 'logfmt with quotes', line: 'level="error" msg=x', level: 'ERROR' },
  { reason: 'logfmt, far behind', line: `msg="${'x'.repeat(300)}" level=error`, level: null },
  { reason: 'syslog 3', line: '<3>kernel: disk failed', level: 'ERROR' },
  { reason: 'syslog with a facility', line: '<28>1 2026-11-21T10:00:00Z host app', level: 'WARN' },
  { reason: 'syslog 7', line: '<7>noise', level: 'DEBUG' },
  { reason: 'brackets', line: '[ERROR] out of disk', level: 'ERROR' },
  {
    reason: 'brackets in lower case',
    line: '2026/11/21 10:00:00 [error] 123#0: *1 open() failed',
    level: 'ERROR',
  },
  {
    reason: 'a thread in brackets',
    line: '2026-11-21 10:00:00,123 [worker 1] WARN com.example - slow',
    level: 'WARN',
  },
  { reason: 'names between', line: '2026-11-21 10:00:00,123 - app.main - DEBUG - x', level: 'DEBUG' },
  { reason: 'Python’s default', line: 'ERROR:root:failed', level: 'ERROR' },
  { reason: 'Apache', line: '[Sat Nov 21 10:00:00.000000 2026] [core:error] [pid 1] x', level: 'ERROR' },
  { reason: 'klog', line: 'E1121 10:00:00.000000       1 file.go:12] x', level: 'ERROR' },
  { reason: 'klog, information', line: 'I1121 10:00:00.000000       1 file.go:12] ERROR', level: 'INFO' },
  { reason: 'a word with a colon', line: 'error: no such file', level: 'ERROR' },
  { reason: 'Fatal with a colon', line: 'Fatal: cannot start', level: 'ERROR' },
  { reason: 'an exception', line: 'java.lang.IllegalStateException: x', level: 'ERROR' },
  { reason: 'a panic of Rust', line: "thread 'main' panicked at src/main.rs:1:1:", level: 'ERROR' },
  { reason: 'a panic of Go', line: 'panic: runtime error', level: 'ERROR' },
  { reason: 'a traceback', line: 'Traceback (most recent call last):', level: 'ERROR' },
  { reason: 'no errors', line: 'no errors', level: null },
  { reason: 'no ERROR', line: 'no ERROR found', level: null },
  { reason: 'a time and no ERROR', line: '2026-11-21T10:00:00Z no ERROR found', level: null },
  { reason: 'a sentence', line: 'finished with 0 errors', level: null },
  { reason: 'a sentence that begins with the word', line: 'error rate is 0', level: null },
  { reason: 'a setting', line: 'listening; LOG_LEVEL=DEBUG', level: null },
  { reason: 'a word far behind', line: `${'a '.repeat(100)}ERROR`, level: null },
  { reason: 'a longer word', line: 'ERRORS 0', level: null },
  { reason: 'a word of the object’s own', line: 'CONSTRUCTOR: x', level: null },
  { reason: 'nothing', line: '', level: null },
];

describe('the level of a log line', () => {
  for (const { reason, line, level } of ROWS) {
    it(`is ${level ?? 'not told'} (${reason})`, () => {
      expect(levelOf(line)).to.equal(level);
    });
  }

  it('is INFO where a first line tells none', () => {
    expect(levelsOf(['no errors', '2026-11-21T10:00:00Z started'])).to.deep.equal(['INFO', 'INFO']);
  });

  it('is that of the line before where a line goes on with it', () => {
    const lines = [
      '2026-11-21T10:00:00Z ERROR vector: failed',
      '    at main (src/main.rs:1)',
      'Caused by: nothing',
      '{"message":"an event"}',
      'WARN slow',
      '  more of it',
      '2026-11-21T10:00:01Z started',
      'and on',
    ];
    expect(levelsOf(lines)).to.deep.equal([
      'ERROR',
      'ERROR',
      'ERROR',
      'INFO',
      'WARN',
      'WARN',
      'INFO',
      'INFO',
    ]);
  });

  it('is one for each line, whatever the lines are', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 300 })), (lines) => {
        const levels = levelsOf(lines);
        expect(levels).to.have.length(lines.length);
        for (const level of levels) expect(LOG_LEVELS).to.include(level);
      }),
    );
    const hostile = ['[', '<', '1', 'a.', '"level":', '{', ' ', "thread '", ': '].map((part) =>
      part.repeat(Math.floor(8_192 / part.length)),
    );
    expect(levelsOf(hostile)).to.have.length(hostile.length);
  });
});
