// Rules of settlements that judge objects.

import { bodies } from '../../support/fact-bodies.ts';
import { openAndEnter, rebuy } from '../../support/story.ts';
import { entered, type Row } from './given.ts';

const evaluates = [{ object: 'a.ts', objectVersion: 'h1', verdict: 'accepted' } as const];
const rule = 'only a tool that did its work judges an object, and never a model';

export const judgingRows: Row[] = [
  [null, 'R-129 a check', entered, (l) => bodies.attempt_settled(l, { evaluates })],
  [
    rule,
    'R-129 a model',
    (l) => openAndEnter(l, rebuy),
    (l) => bodies.attempt_settled(l, { evaluates }),
  ],
  [
    rule,
    'R-129 a check that was refused',
    entered,
    (l) => bodies.attempt_settled(l, { evaluates, outcome: 'refused' }),
  ],
];
