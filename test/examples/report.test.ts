// The demo's last words: what a machine reads, and when the demo counts as failed.

import { expect, test } from 'vitest';
import {
  isClean,
  type Report,
  reportLine,
  reportTable,
} from '../../examples/support-desk/report.ts';

const clean: Report = {
  seconds: 41,
  openUnknowns: 0,
  settledByPerson: 1,
  settledByInquiry: 2,
  droppedReplies: 2,
  workerKills: 3,
  lost: 0,
  duplicates: 0,
  effects: 26,
  intents: 26,
};

test('the line of --json has these keys in this order and nothing else', () => {
  expect(reportLine(clean)).toBe(
    '{"intents":26,"effects":26,"duplicates":0,"lost":0,"workerKills":3,"droppedReplies":2,' +
      '"settledByInquiry":2,"settledByPerson":1,"openUnknowns":0,"seconds":41}',
  );
});

test('the table for people has a row for each of its numbers', () => {
  const numbers = reportTable(clean)
    .split('\n')
    .map((row) => /\d+/.exec(row)?.[0]);
  const line = Object.values(JSON.parse(reportLine(clean)) as Report).map(String);
  expect(numbers).toEqual(line);
});

test.each(['duplicates', 'lost', 'openUnknowns'] as const)('one of %s is no clean end', (name) => {
  expect(isClean(clean)).toBe(true);
  expect(isClean({ ...clean, [name]: 1 })).toBe(false);
});
