import { describe, expect, test } from 'vitest';
import {
  createLog,
  errorFields,
  type LogFields,
  logFields,
  temporalLogger,
} from '../../workers/log.ts';

function recordingLog(level: 'debug' | 'info' | 'warn' | 'error' = 'debug') {
  const lines: string[] = [];
  const now = () => new Date('2026-01-02T03:04:05.678Z');
  return { lines, log: createLog({ level, now, write: (line) => void lines.push(line) }) };
}

describe('log lines', () => {
  test('one line of JSON carries level, time, message and ids', () => {
    const { log, lines } = recordingLog();
    log
      .with({ run: 'invoice-42' })
      .warn('attempt is overdue', { action: 'invoice-42.t1.c1', ms: 5 });
    expect(lines).toEqual([
      '{"level":"warn","time":"2026-01-02T03:04:05.678Z","message":"attempt is overdue",' +
        '"run":"invoice-42","action":"invoice-42.t1.c1","ms":5}\n',
    ]);
  });

  test('a field that is not in the list is dropped and counted, and with it any payload', () => {
    const { log, lines } = recordingLog();
    const fields = { run: 'r', payload: { card: '4111' }, input: '4111' } as LogFields;
    log.info('attempt entered', fields);
    expect(lines.join()).not.toContain('4111');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ run: 'r', droppedFields: 2 });
  });

  test('an object under an allowed name is dropped, too', () => {
    const { log, lines } = recordingLog();
    log.info('attempt entered', { tool: { card: '4111' } } as unknown as LogFields);
    expect(lines.join()).not.toContain('4111');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ droppedFields: 1 });
  });

  test('long text is cut, and line breaks stay inside the one line', () => {
    const { log, lines } = recordingLog();
    log.info('started', { queue: `a\n${'x'.repeat(10_000)}` });
    expect(lines[0]?.length).toBeLessThan(500);
    expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1);
  });

  test('lines below the level are not written', () => {
    const { log, lines } = recordingLog('warn');
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
    expect(lines.map((line) => JSON.parse(line).message)).toEqual(['c', 'd']);
  });

  test('no name in the list is one that holds content', () => {
    for (const name of logFields) expect(name).not.toMatch(/payload|input|result|body|text|args/i);
  });
});

describe('errors in log lines', () => {
  test('an error gives its type, code and place, and not its text', () => {
    const error = Object.assign(new TypeError('card 4111 was refused'), { code: 'E_CARD' });
    const fields = errorFields(error);
    expect(fields).toMatchObject({ errorType: 'TypeError', errorCode: 'E_CARD' });
    expect(fields.errorAt).toMatch(/^log\.test\.ts:\d+$/);
    expect(JSON.stringify(fields)).not.toContain('4111');
  });

  test('what is no error gives the type of the value', () => {
    expect(errorFields('card 4111')).toEqual({ errorType: 'string' });
  });

  test('an error without stack or code gives its type', () => {
    const error = new Error('x');
    delete (error as { stack?: string }).stack;
    expect(errorFields(error)).toEqual({ errorType: 'Error' });
  });
});

describe('the logger for the SDK', () => {
  test('its metadata passes through the same list under our names', () => {
    const { log, lines } = recordingLog();
    temporalLogger(log).log('WARN', 'Activity failed', {
      workflowId: 'invoice-42',
      activityId: 'invoice-42.t1.c1~ab',
      taskQueue: 'holdfast-actions',
      args: ['card 4111'],
      error: new Error('card 4111'),
    });
    expect(lines.join()).not.toContain('4111');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'warn',
      run: 'invoice-42',
      attempt: 'invoice-42.t1.c1~ab',
      queue: 'holdfast-actions',
      errorType: 'Error',
    });
  });

  test.each(['trace', 'debug', 'info', 'warn', 'error'] as const)('%s writes a line', (method) => {
    const { log, lines } = recordingLog();
    temporalLogger(log)[method]('Worker state changed');
    expect(JSON.parse(lines[0] ?? '').level).toBe(method === 'trace' ? 'debug' : method);
  });
});
